# SPDX-License-Identifier: GPL-2.0-only
"""Checks a value against docs/record.schema.json: the keywords of JSON Schema that it uses, and no others."""
import json

import lab

RECORD = json.loads((lab.ROOT / "docs/record.schema.json").read_text())
INTERVAL = RECORD["$defs"]["interval"]
VISIT = RECORD["$defs"]["visit"]
FOLDED = RECORD["$defs"]["folded"]

_TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float),
          "null": type(None)}
_SILENT = {"$schema", "$defs", "title", "description", "properties", "items"}


def _is_of_type(value, name):
    if name in ("integer", "number") and isinstance(value, bool):
        return False
    return isinstance(value, _TYPES[name])


def _check_keyword(keyword, wanted, value):
    if keyword == "type":
        return _is_of_type(value, wanted)
    if keyword == "const":
        return value == wanted
    if keyword == "enum":
        return value in wanted
    if keyword == "minimum":
        return not _is_of_type(value, "number") or value >= wanted
    if keyword == "required":
        return not isinstance(value, dict) or all(name in value for name in wanted)
    if keyword == "anyOf":
        return any(not faults(value, schema) for schema in wanted)
    if keyword in ("minItems", "maxItems"):
        return not isinstance(value, list) or (len(value) >= wanted if keyword == "minItems" else len(value) <= wanted)
    raise ValueError(f"the schema uses '{keyword}', which is not known here")


def faults(value, schema, where="record"):
    """What is wrong with `value`, a line each; members the schema does not name are faults as well."""
    if "$ref" in schema:
        # The only reference there is: to a definition of the same document.
        return faults(value, RECORD["$defs"][schema["$ref"].removeprefix("#/$defs/")], where)
    found = [f"{where}: {keyword} {wanted}, but it is {str(value)[:80]}" for keyword, wanted in schema.items()
             if keyword not in _SILENT and not _check_keyword(keyword, wanted, value)]
    if isinstance(value, dict) and "properties" in schema:
        for name, member in value.items():
            if name in schema["properties"]:
                found += faults(member, schema["properties"][name], f"{where}.{name}")
            else:
                found.append(f"{where}.{name}: not in the schema")
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            found += faults(item, schema["items"], f"{where}[{index}]")
    return found
