"""Rules that compile shaders with crosslane, an action for each output.

An action's inputs are the shader, the files that it includes and the compiler itself, all by their contents. The same inputs
give the same bytes, so results can come from a cache or from another machine.
"""

def _crosslane_shader_impl(ctx):
    outputs = []
    inputs = depset([ctx.file.src] + ctx.files.includes)
    for profile, ending in ctx.attr.outputs.items():
        name = profile.split("/")[-1].removesuffix(".toml")
        output = ctx.actions.declare_file("{}.{}.{}".format(ctx.label.name, name, ending))
        arguments = ctx.actions.args()
        arguments.add_all(["compile", ctx.file.src, "-p", profile, "-o", output])
        arguments.add_all(ctx.attr.defines, format_each = "-D%s")
        arguments.add_all([ctx.label.package + "/" + folder if ctx.label.package else folder for folder in ctx.attr.include_dirs], before_each = "-I")
        arguments.add_all(ctx.attr.options)
        ctx.actions.run(
            executable = ctx.executable.crosslane,
            arguments = [arguments],
            inputs = inputs,
            outputs = [output],
            mnemonic = "Crosslane",
            progress_message = "Compiling %{input} for " + profile,
        )
        outputs.append(output)
    return [DefaultInfo(files = depset(outputs))]

crosslane_shader = rule(
    implementation = _crosslane_shader_impl,
    doc = "Compiles a shader for several profiles, to files NAME.PROFILE.ENDING.",
    attrs = {
        "src": attr.label(mandatory = True, allow_single_file = True, doc = "The shader."),
        "outputs": attr.string_dict(
            mandatory = True,
            doc = "For each profile the ending of its output. A profile that is a file is named by its path, and listed in `includes`.",
        ),
        "includes": attr.label_list(allow_files = True, doc = "The files that the shader reads, which inputs.py lists."),
        "include_dirs": attr.string_list(doc = "Folders of this package to look for includes in."),
        "defines": attr.string_list(doc = "Macros: NAME or NAME=VALUE."),
        "options": attr.string_list(doc = "Further options of `crosslane compile`."),
        "crosslane": attr.label(
            mandatory = True,
            executable = True,
            allow_single_file = True,
            cfg = "exec",
            doc = "The compiler.",
        ),
    },
)
