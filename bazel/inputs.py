#!/usr/bin/env python3
"""Writes the exact inputs of shaders for rules of Bazel.

    inputs.py [--crosslane PROGRAM] [OPTION...] -- SHADER... > inputs.bzl

For each shader, `crosslane compile -M --deps-format json` lists the files that it reads; OPTIONs such as -I and -D are passed on.
The output is a dictionary INPUTS from the shader to its includes. Run it in the folder of the BUILD file when an #include line
changes: in a sandbox an include that is not listed is not found, so a stale list cannot go unseen.
"""

import json
import subprocess
import sys


def inputs(command, shader):
    arguments = [*command, shader, "-M", "--deps-format", "json", "-o", "-"]
    listed = subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True).stdout
    return sorted(set(json.loads(listed)["inputs"]) - {shader})


def main(words):
    if "--" not in words:
        sys.exit(__doc__)
    options, shaders = words[: words.index("--")], words[words.index("--") + 1 :]
    program = "crosslane"
    if options[:1] == ["--crosslane"]:
        program, options = options[1], options[2:]
    print('"""The files that each shader includes; written by inputs.py."""\n\nINPUTS = {')
    for shader in sorted(shaders):
        listed = inputs([program, "compile", "--no-warnings", *options], shader)
        if listed:
            print(f"    {json.dumps(shader)}: [")
            for name in listed:
                print(f"        {json.dumps(name)},")
            print("    ],")
        else:
            print(f"    {json.dumps(shader)}: [],")
    print("}")


if __name__ == "__main__":
    main(sys.argv[1:])
