# SPDX-License-Identifier: BSD-2-Clause
# hwpmc.fish - completion for fish, from the help texts.

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

complete -c hwpmc -n 'not __hwpmc_has_command' -f -a '(__hwpmc_commands)'
complete -c hwpmc -n 'not __hwpmc_has_command' -f -l help -l version
complete -c hwpmc -n '__hwpmc_has_command; and string match -q -- "-*" (commandline -ct)' \
    -f -a '(__hwpmc_options)'
