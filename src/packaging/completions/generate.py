#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completions of the weir command for bash, zsh and fish, from its own help texts.
generate.py OUT_BASH OUT_ZSH OUT_FISH kinds.h keying.h change.h images.h main.c
COMMAND.c..."""
import re
import sys


def shared_lines(headers):
    """{macro: the lines of help that it stands for}."""
    return dict(re.findall(r"#define (\w+_HELP_\w+) \\\n(.*?)\n\n", headers, re.S))


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
    return found


def brief(text):
    """Shorten a summary for a list: drop text in brackets and after a semicolon. Cut at a colon,
    unless the colon follows a word or two ("blocked: ...", "default: ...")."""
    text = re.split(r";|, (?=default)", re.sub(r" *\([^)]*\)", "", text).strip())[0]
    before = text.split(": ")[0]
    text = before if len(before.split()) > 2 else text
    return re.sub(r"[\"`\[\]\\$]", "", text).strip(" :")


def finish(options, kinds):
    """Shorten the summaries, take missing ones from weir build, and find the choices of a value."""
    build = {long: text for _, long, _, text in options["build"]}
    for name, found in options.items():
        for option in found:
            text = option[3]
            if not text or text.startswith("as of weir build"):
                text = build[option[1]]
            words = re.sub(r"\(.*?\)", "", text.partition(": ")[2])
            option[3] = brief(text)
            option.append(kinds if option[2] == "=KIND" else
                          re.findall(r"\w+", words) if option[2] == "=FLAVOR" else [])


def commands_of(main):
    table = re.search(r"static const struct command commands\[\] = \{(.*?)\n\};", main, re.S)[1]
    return re.findall(r'\{ "(\w+)", "([^"]*)", cmd_\w+ \}', table)


HEAD = "# SPDX-License-Identifier: MIT\n# Made from the help texts of the weir command.\n"
FILES = {"FILE", "IMAGE", "DIR"}


def bash(commands, options):
    cases = "".join(
        f"\t{name}) words='" + " ".join(
            word for short, long, *_ in options[name]
            for word in ([f"-{short}"] if short else []) + [f"--{long}"]) + "' ;;\n"
        for name, _ in commands)
    names = " ".join(name for name, _ in commands)
    # The value of such an option is not a file. If it is one of a few words, list the words.
    values = ""
    for name, _ in commands:
        for short, long, value, _, choices in options[name]:
            if value[:1] == "=" and value.strip("=") not in FILES:
                values += "\t" + (f"{name}:-{short} | " if short else "") + f"{name}:--{long})"
                values += f" values='{' '.join(choices)}' ;;\n"
    return HEAD + f"""_weir() {{
	local words= values cur=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		COMPREPLY=($(compgen -W '{names} help --help --version' -- "$cur"))
		return
	fi
	[ "$before" != = ] || before=${{COMP_WORDS[COMP_CWORD - 2]}} # --kind=b is three words
	[ "$cur" != = ] || cur=
	case ${{COMP_WORDS[1]}}:$before in
{values}	esac
	if [ -n "${{values+x}}" ]; then
		COMPREPLY=($(compgen -W "$values" -- "$cur"))
		compopt +o default +o bashdefault 2> /dev/null # no names of files
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
    def spec(short, long, value, summary, choices):
        text = "[" + summary.replace("'", "'\\''") + "]"
        if value:
            name = value.strip("[=]")
            action = "_files" if name in FILES else f"({' '.join(choices)})" if choices else ""
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
	help)
		_arguments '1:command:({" ".join(name for name, _ in commands)})' ;;
{cases}esac
"""


def fish(commands, options):
    out = HEAD
    for name, summary in commands:
        out += f"complete -c weir -n __fish_use_subcommand -f -a {name} -d '{summary}'\n"
    names = " ".join(name for name, _ in commands)
    out += "complete -c weir -n __fish_use_subcommand -f -a help -d 'how to use a command'\n"
    out += f"complete -c weir -n '__fish_seen_subcommand_from help' -f -a '{names}'\n"
    for name, _ in commands:
        for short, long, value, summary, choices in options[name]:
            out += f"complete -c weir -n '__fish_seen_subcommand_from {name}'"
            out += (f" -s {short}" if short else "") + f" -l {long}"
            if value and value[0] != "[":
                out += " -r" if value.strip("[=]") in FILES else " -x"
            out += f" -a '{' '.join(choices)}'" if choices else ""
            out += f' -d "{summary}"\n'
    return out


def main():
    outputs = sys.argv[1:4]
    texts = [open(path, encoding="utf-8").read() for path in sys.argv[4:]]
    kinds, headers, sources = texts[0], texts[1:4], texts[4:]
    commands, shared = commands_of(sources[0]), shared_lines("".join(headers))
    options = {}
    for source in sources[1:]:
        options[re.search(r"\nint cmd_(\w+)\(", source)[1]] = options_of(source, shared)
    finish(options, re.findall(r"X\(\d+, \w+, (\w+),", kinds))
    for path, shell in zip(outputs, (bash, zsh, fish)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(shell(commands, options))


main()
