// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/async.h"
#include "net/reactor.h"

namespace mpath::job {

/// Asks all `questions` at the same time and returns the answers in their order. One that `known` has an
/// answer to, and one that is there twice, is not asked again: equal ones have the same `key`, a function
/// from a question to text. `ask` makes the task that answers one, a Task<Answer>; `Answer` is a Result.
/// Fails as a whole when nothing can be asked at all. For setting up: waits until the last one is answered.
template <typename Answer, typename Question, typename Key, typename Ask>
Result<std::vector<Answer>> ask_once(const Clock& clock, std::map<std::string, Answer>& known,
                                     const std::vector<Question>& questions, Key key, Ask ask) {
    auto reactor = net::make_reactor(clock, 64);
    if (!reactor) {
        return tl::unexpected<Error>(reactor.error());
    }
    std::size_t open = 0;
    for (const Question& question : questions) {
        const auto [entry, fresh] = known.try_emplace(key(question), failure(EINPROGRESS, "not asked yet"));
        if (fresh) {
            ++open;
            net::spawn<Answer>(ask(**reactor, question), [&open, &place = entry->second](Answer answer) {
                place = std::move(answer);
                --open;
            });
        }
    }
    while (open > 0) {
        (*reactor)->run(kSecond);
    }
    std::vector<Answer> answers;
    answers.reserve(questions.size());
    for (const Question& question : questions) {
        answers.push_back(known.at(key(question)));
    }
    return answers;
}

} // namespace mpath::job
