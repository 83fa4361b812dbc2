// SPDX-License-Identifier: GPL-2.0-only
#include "target/iscsi/login.h"

#include <algorithm>

#include <fmt/format.h>

namespace mpath::target::scsi {

using iscsi::LoginStage;
namespace login_flag = iscsi::login_flag;

namespace {

constexpr unsigned kMostRequests = 64;
constexpr std::size_t kMostText = 64 * 1024;
constexpr std::size_t kMostName = 223;

bool is_security_key(std::string_view key) {
    return key == "AuthMethod" || key.starts_with("CHAP_");
}

/// Declarations, which want no answer.
bool is_declared(std::string_view key) {
    return key == "InitiatorName" || key == "InitiatorAlias" || key == "TargetName" || key == "SessionType";
}

bool offers(const std::string& list, std::string_view method) {
    const auto words = split_list(list);
    return std::find(words.begin(), words.end(), method) != words.end();
}

} // namespace

Login::Answer Login::refuse(const iscsi::LoginRequest& request, LoginStatus status) {
    Answer answer;
    answer.header.flags =
        iscsi::login_stages(iscsi::current_stage(request.flags), iscsi::LoginStage::security);
    answer.header.isid = request.isid;
    answer.header.tsih = request.tsih;
    answer.header.task_tag = request.task_tag;
    answer.header.status_class = static_cast<std::uint8_t>(status >> 8);
    answer.header.status_detail = static_cast<std::uint8_t>(status);
    return answer;
}

Login::Answer Login::take(const iscsi::LoginRequest& request, std::string_view text) {
    LoginStatus status = check_header(request);
    if (status == login_status::kSuccess && text_.size() + text.size() > kMostText) {
        status = login_status::kOutOfResources;
    }
    if (status != login_status::kSuccess) {
        return refuse(request, status);
    }
    text_ += text;
    Answer answer = refuse(request, login_status::kSuccess);
    answer.header.flags = iscsi::login_stages(stage_, LoginStage::security);
    if ((request.flags & login_flag::kContinue) != 0) {
        return answer;
    }
    status = answer_text(request, answer.text);
    text_.clear();
    const LoginStage next = iscsi::next_stage(request.flags);
    const bool transit = (request.flags & login_flag::kTransit) != 0 &&
                         !(stage_ == LoginStage::security && needs_chap() && !chap_.passed());
    if (status == login_status::kSuccess && transit) {
        answer.header.flags = login_flag::kTransit | iscsi::login_stages(stage_, next);
        stage_ = next;
        if (next == LoginStage::full_feature) {
            session_ = node_.open_session({initiator_, isid_}, discovery_, listener_, negotiation_.terms());
            status = session_ == nullptr ? login_status::kOutOfResources : status;
        }
    }
    if (status != login_status::kSuccess) {
        return refuse(request, status);
    }
    answer.header.tsih = session_ != nullptr ? session_->tsih() : tsih_;
    return answer;
}

LoginStatus Login::check_header(const iscsi::LoginRequest& request) {
    const LoginStage current = iscsi::current_stage(request.flags);
    const LoginStage next = iscsi::next_stage(request.flags);
    const bool transit = (request.flags & login_flag::kTransit) != 0;
    const bool goes_on = (request.flags & login_flag::kContinue) != 0;
    if (!begun_) {
        if (request.version_min != 0) {
            return login_status::kUnsupportedVersion;
        }
        if (request.tsih != 0) { // one session has one connection
            return node_.has_session(request.tsih) ? login_status::kTooManyConnections
                                                   : login_status::kNoSuchSession;
        }
        begun_ = true;
        stage_ = current;
        isid_ = request.isid;
        tsih_ = request.tsih;
    }
    const bool sane = current == stage_ && current <= LoginStage::operational && request.isid == isid_ &&
                      request.tsih == tsih_ && !(transit && goes_on) &&
                      (!transit || (next > current && next != static_cast<LoginStage>(2)));
    return sane && ++requests_ <= kMostRequests ? login_status::kSuccess : login_status::kInitiatorError;
}

LoginStatus Login::answer_text(const iscsi::LoginRequest& request, std::string& reply) {
    const auto keys = parse_text(text_);
    if (!keys) {
        return login_status::kInitiatorError;
    }
    LoginStatus status = named_ ? login_status::kSuccess : check_names(*keys, reply);
    if (status == login_status::kSuccess && stage_ == LoginStage::security) {
        status = authenticate(*keys, reply);
    } else if (status == login_status::kSuccess && needs_chap() && !chap_.passed()) {
        status = login_status::kAuthenticationFailure;
    }
    if (status == login_status::kSuccess) {
        status = negotiate(*keys, reply);
    }
    const bool wants_on = (request.flags & login_flag::kTransit) != 0;
    const bool unproven = stage_ == LoginStage::security && needs_chap() && !proves_;
    return status == login_status::kSuccess && wants_on && unproven ? login_status::kAuthenticationFailure
                                                                    : status;
}

LoginStatus Login::check_names(const KeyValues& keys, std::string& reply) {
    const std::string* initiator = find_key(keys, "InitiatorName");
    const std::string* type = find_key(keys, "SessionType");
    const std::string* target = find_key(keys, "TargetName");
    if (initiator == nullptr || initiator->empty() || initiator->size() > kMostName) {
        return login_status::kMissingParameter;
    }
    if (type != nullptr && *type != "Normal" && *type != "Discovery") {
        return login_status::kSessionTypeNotSupported;
    }
    discovery_ = type != nullptr && *type == "Discovery";
    if (!discovery_ && target == nullptr) {
        return login_status::kMissingParameter;
    }
    if (target != nullptr && *target != node_.options().iscsi.name) {
        return login_status::kNotFound;
    }
    initiator_ = *initiator;
    named_ = true;
    if (!discovery_) {
        append_key(reply, "TargetPortalGroupTag", fmt::format("{}", node_.tag_of(listener_)));
    }
    return login_status::kSuccess;
}

LoginStatus Login::authenticate(const KeyValues& keys, std::string& reply) {
    if (const std::string* methods = find_key(keys, "AuthMethod"); methods != nullptr) {
        const std::string_view method = needs_chap() ? "CHAP" : "None";
        if (!offers(*methods, method)) {
            return login_status::kAuthenticationFailure;
        }
        append_key(reply, "AuthMethod", method);
        proves_ = true;
    }
    return !needs_chap() || chap_.answer(keys, reply) ? login_status::kSuccess
                                                      : login_status::kAuthenticationFailure;
}

LoginStatus Login::negotiate(const KeyValues& keys, std::string& reply) {
    for (const auto& [key, value] : keys) {
        if (!is_security_key(key) && !is_declared(key) && !negotiation_.answer(key, value, reply)) {
            return login_status::kInitiatorError;
        }
    }
    if (stage_ == LoginStage::operational) {
        negotiation_.declare(reply);
    }
    return login_status::kSuccess;
}

} // namespace mpath::target::scsi
