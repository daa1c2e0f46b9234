# SPDX-License-Identifier: BSD-2-Clause
# hwpmc.fish - completion for fish: commands and options are those of the help texts, events and
# metrics those of hwpmc list.

function __hwpmc_commands
    hwpmc --help 2>/dev/null | string match -rg '^    ([a-z]+) +(.*)' | paste - -
    printf 'help\tprint the help of a command\n'
end

function __hwpmc_options
    set -l words (commandline -opc)
    hwpmc $words[2] --help 2>/dev/null | string match -r '^ *--?[a-zA-Z].*' |
        string match -ra -- '(?:^|[ ,;])--?[a-zA-Z][a-z-]*' | string trim -c ' ,;' | sort -u
end

function __hwpmc_has_command
    test (count (commandline -opc)) -gt 1
end

# Events that have the word, in upper and lower case as hwpmc takes both.
function __hwpmc_events
    set -l word (commandline -ct)
    hwpmc list --json -- $word 2>/dev/null | string match -rg '^\{"event":"([^"]*)"' | sort -u
end

function __hwpmc_metrics
    hwpmc list --metrics --json 2>/dev/null |
        string match -rg '^\{"metric":"([^"]*)","groups":"([^"]*)"' | string split ' ' | sort -u
end

# The words of the option before; nothing where it has none.
function __hwpmc_words
    set -l words (commandline -opc)
    switch "$words[2]:$words[-1]"
        case stat:-M stat:--metrics
            __hwpmc_metrics
        case '*:-e' '*:--event'
            __hwpmc_events
        case report:--format
            printf '%s\n' text json csv folded flamegraph pprof callgrind gmon firefox speedscope
        case '*:--format'
            printf '%s\n' text json csv
        case report:-s report:--sort
            printf '%s\n' process pid comm thread image symbol line address kind cpu period tid \
                dso sym srcline overhead sample
        case top:-s top:--sort
            printf '%s\n' function image process comm thread kind symbol sym dso tid
        case diff:-s diff:--sort
            printf '%s\n' delta ratio old new name
        case diff:-b diff:--by
            printf '%s\n' function image process
        case '*:-p' '*:--pid'
            string match -rg '^/proc/([0-9]+)$' /proc/*
    end
end

# Does the option before have words of its own?
function __hwpmc_wants_word
    set -l words (commandline -opc)
    test (count $words) -gt 2
    and string match -rq '^(-e|--event|--format|-s|--sort|-M|--metrics|-b|--by|-p|--pid)$' \
        -- $words[-1]
end

complete -c hwpmc -n 'not __hwpmc_has_command' -f -a '(__hwpmc_commands)'
complete -c hwpmc -n 'not __hwpmc_has_command' -f -l help -l version
complete -c hwpmc -n '__hwpmc_has_command; and string match -q -- "-*" (commandline -ct)' \
    -f -a '(__hwpmc_options)'
complete -c hwpmc -n '__hwpmc_has_command; and __hwpmc_wants_word' -f -a '(__hwpmc_words)'
