// SPDX-License-Identifier: GPL-2.0-only
// Wire structures are made of byte-order types and byte arrays, so they have no padding; these say so to the
// compiler, for the size and for each offset.
#pragma once

#include <cstddef>

#define MPATH_AT(Type, member, offset)                                                                       \
    static_assert(offsetof(Type, member) == (offset), #Type "::" #member " is not at its offset")

#define MPATH_SIZE(Type, size) static_assert(sizeof(Type) == (size), #Type " has the wrong size")
