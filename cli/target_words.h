// SPDX-License-Identifier: GPL-2.0-only
// The command line of `fio-mpath target`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "target/options.h"

namespace mpath::cli {

/// The command line's words, of which those with a form of their own are read after the parse.
struct TargetWords {
    target::Options options;
    std::vector<std::string> listen;
    std::vector<std::string> iscsi;
    std::vector<std::string> discovery;
    std::vector<std::string> referrals;
    std::string ana = "optimized";
    std::vector<std::string> flips;
    std::string breach;
    std::string size = "256M";
    std::string block_size = "4096";
    std::string mdts = "1M";
    std::string in_capsule = "8k";
    std::string max_h2c_data = "1M";
    std::string r2t_size = "0";
    std::string c2h_size = "0";
    std::string segment = "0";
    std::string max_write_zeroes = "0";
    std::string max_burst = "1M";
    std::string first_burst = "256k";
    std::string max_receive = "256k";
    std::string chap_secret_file; ///< empty: none
    bool no_digests = false;
    bool force_digests = false;
    std::string vary; ///< empty: no
    std::string identify_by = "uuid,nguid,eui64";
    std::string crdt; ///< empty: none
    std::string script;
    std::string control;
    bool no_control = false;
    std::string fault_log;
    std::string ready_file;
    double exit_after = 0;
    bool until_stdin_closes = false;
};

/// `words` has to live as long as `app`.
void add_target_options(CLI::App& app, TargetWords& words);

/// What the words say, to be called after the parse.
Result<target::Options> read_target_words(const TargetWords& words);

} // namespace mpath::cli
