#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completions of the weir command for bash, zsh and fish, from its own help texts.
generate.py OUT_BASH OUT_ZSH OUT_FISH keying_options.h main.c cmd_*.c"""
import re
import sys


def shared_lines(header):
    """{macro: the lines of help that it stands for}."""
    return dict(re.findall(r"#define (\w+_HELP_\w+) \\\n(.*?)\n\n", header, re.S))


def options_of(source, shared):
    """(short, long, value, summary) of each option in a help text."""
    text = "".join(re.findall(r"static const char help\w*\[\] =(.*?);\n\n", source, re.S))
    for macro, more in shared.items():
        text = text.replace(f"\t{macro}\n", more)
    lines = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace('\\"', '"').split("\\n")
    found = []
    for line in lines:
        option = re.match(r"  (?:-(\w), |    )--([a-z-]+)(\[?=[A-Z]+\]?)?(.*)", line)
        if option:
            more = re.findall(r", --([a-z-]+)(=[A-Z]+)?", option[4])
            rest = re.sub(r"^(, --[a-z-]+(=[A-Z]+)?)*", "", option[4]).strip()
            found.append([option[1], option[2], option[3] or "", rest])
            found += [[None, name, value, rest] for name, value in more]
        elif found and re.match(r" {7,}\S", line):
            found[-1][3] += " " + line.strip()
    for option in found:
        option[3] = re.split(r"[;:]|, (?=default)", option[3].strip())[0]
        option[3] = re.sub(r"['\"`\[\]\\$]", "", option[3])
    return found


def commands_of(main):
    table = re.search(r"static const struct command commands\[\] = \{(.*?)\n\};", main, re.S)[1]
    return re.findall(r'\{ "(\w+)", "([^"]*)", cmd_\w+ \}', table)


HEAD = "# SPDX-License-Identifier: MIT\n# Made from the help texts of the weir command.\n"
FILES = {"FILE", "IMAGE"}


def bash(commands, options):
    cases = "".join(
        f"\t{name}) words='" + " ".join(
            word for short, long, _, _ in options[name]
            for word in ([f"-{short}"] if short else []) + [f"--{long}"]) + "' ;;\n"
        for name, _ in commands)
    names = " ".join(name for name, _ in commands)
    return HEAD + f"""_weir() {{
	local words= cur=${{COMP_WORDS[COMP_CWORD]}}
	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		COMPREPLY=($(compgen -W '{names} help --help --version' -- "$cur"))
		return
	fi
	case ${{COMP_WORDS[1]}} in
	help) words='{names}' ;;
{cases}	esac
	case $cur in
	-*) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
	*) [ "${{COMP_WORDS[1]}}" != help ] || COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
	esac
}}
complete -o bashdefault -o default -F _weir weir
"""


def zsh(commands, options):
    def spec(short, long, value, summary):
        text = f"[{summary}]"
        if value:
            name = value.strip("[=]")
            action = "_files" if name in FILES else ""
            text += ("::" if value[0] == "[" else ":") + f"{name.lower()}:{action}"
        equal = {"": "", "[": "=-"}.get(value[:1], "=")
        lines = [f"'--{long}{equal}{text}'"]
        if short:
            lines.append(f"'-{short}{'+' if value else ''}{text}'")
        return lines

    cases = ""
    for name, _ in commands:
        specs = [line for option in options[name] for line in spec(*option)]
        cases += f"\t{name})\n\t\t_arguments -s \\\n\t\t\t" + " \\\n\t\t\t".join(specs)
        cases += " \\\n\t\t\t'*:file:_files' ;;\n"
    names = "\n".join(f"\t\t'{name}:{summary}'" for name, summary in commands)
    return f"#compdef weir\n{HEAD}" + f"""local -a commands
if (( CURRENT == 2 )); then
	commands=(
{names}
		'help:how to use a command'
	)
	_describe command commands
	return
fi
shift words
(( CURRENT-- ))
case $words[1] in
{cases}esac
"""


def fish(commands, options):
    out = HEAD
    for name, summary in commands:
        out += f"complete -c weir -n __fish_use_subcommand -f -a {name} -d '{summary}'\n"
    for name, _ in commands:
        for short, long, value, summary in options[name]:
            out += f"complete -c weir -n '__fish_seen_subcommand_from {name}'"
            out += (f" -s {short}" if short else "") + f" -l {long}"
            if value and value[0] != "[":
                out += " -r" if value.strip("[=]") in FILES else " -x"
            out += f" -d '{summary}'\n"
    return out


def main():
    outputs = sys.argv[1:4]
    header, *sources = [open(path, encoding="utf-8").read() for path in sys.argv[4:]]
    commands, shared = commands_of(sources[0]), shared_lines(header)
    options = {}
    for source in sources[1:]:
        options[re.search(r"\nint cmd_(\w+)\(", source)[1]] = options_of(source, shared)
    for path, shell in zip(outputs, (bash, zsh, fish)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(shell(commands, options))


main()
