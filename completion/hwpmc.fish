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

# An option of the command that takes a value, by the word in capitals behind it.
function __hwpmc_takes_value
    set -l option (string escape --style=regex -- $argv[2])
    hwpmc $argv[1] --help 2>/dev/null |
        string match -rq -- "(^|[ ,])$option(, --[a-z-]+)? [A-Z]"
end

# Prints the number of the first word of the program that the command runs; fails if that has not
# begun.
function __hwpmc_program
    set -l words (commandline -opc)
    contains -- "$words[2]" stat record top
    or return 1
    set -l i 3
    while test $i -le (count $words)
        switch $words[$i]
            case --
                math $i + 1
                return 0
            case '-*'
                __hwpmc_takes_value $words[2] $words[$i]
                and set i (math $i + 1)
            case '*'
                echo $i
                return 0
        end
        set i (math $i + 1)
    end
    return 1
end

function __hwpmc_is_foreign
    __hwpmc_program >/dev/null
end

# What fish completes for that program.
function __hwpmc_foreign
    set -l words (commandline -opc)
    set -l start (__hwpmc_program)
    set -l line
    test $start -le (count $words)
    and set line (string escape -- $words[$start..-1])
    complete -C (string join ' ' -- $line (commandline -ct))
end

# Events that have the part of a list behind its last comma or brace, each behind what the list has
# before. fish matches in upper and lower case.
function __hwpmc_events
    set -l before (string replace -r '[^,{]*$' '' -- (commandline -ct))
    set -l part (string replace -r '^.*[,{]' '' -- (commandline -ct))
    for event in (hwpmc list --json -- $part 2>/dev/null |
            string match -rg '^\{"event":"([^"]*)"' | sort -u)
        echo $before$event
    end
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
complete -c hwpmc -n __hwpmc_is_foreign -f -a '(__hwpmc_foreign)'
complete -c hwpmc -n '__hwpmc_has_command; and not __hwpmc_is_foreign; and string match -q -- "-*" (commandline -ct)' \
    -f -a '(__hwpmc_options)'
complete -c hwpmc -n '__hwpmc_has_command; and not __hwpmc_is_foreign; and __hwpmc_wants_word' -f -a '(__hwpmc_words)'
