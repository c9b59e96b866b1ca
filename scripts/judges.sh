#!/bin/bash
# judges.sh [DIR [newest]]: fetches the programs that judge the compiler's output and unpacks them under DIR (target/judges).
#
#   DIR/bin/        spirv-val, spirv-dis, spirv-as, glslangValidator of Debian 13, each run with its own C library
#   DIR/bin/glslc   glslc of Debian 13, likewise; so is spirv-cross
#   DIR/bin/newest/ spirv-val, spirv-dis and glslangValidator of Debian's testing suite, if `newest` is given: they know
#                   newer features; vkd3d-compiler, which compiles HLSL for Shader Model 5
#   DIR/dawn/       Dawn, with which Chromium runs WGSL, as the npm package `webgpu`; needs npm
#   DIR/bin/ptxas   NVIDIA's PTX assembler, from the Python package nvidia-cuda-nvcc-cu12; needs pip
#   DIR/dxc/        Microsoft's HLSL compiler, as a library from the Python package compushady; needs pip
#   DIR/pcode/      AMD's pseudo-code for the instructions of RDNA 3, RDNA 4 and CDNA, from the Python package tinygrad; needs pip
#   DIR/lvp.json    lavapipe of Mesa 25.0.7, as a Vulkan driver manifest (name it in VK_ICD_FILENAMES)
#
# Nothing is installed and nothing outside DIR changes. A complete part is left alone; a part that an earlier run did
# not finish is fetched again. Needs apt-get and dpkg-deb, and a Debian mirror in the machine's apt sources. The libraries
# that lavapipe links to come with the packages mesa-vulkan-drivers and libvulkan1, which scripts/test.sh installs.
set -euo pipefail

dir=${1:-target/judges}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

fail() { echo "judges.sh: $*" >&2; exit 2; }

. "$(dirname "$0")/debian.sh"

# wrap PART NAME...: a wrapper per program: Debian 13's binaries need a newer C library than older machines have. They use
# the one in `tools`, unless the part has its own; the wrappers are in DIR/bin, or in the subfolder named by `under`.
wrap() {
    local lib=root/usr/lib/x86_64-linux-gnu part=$1 bin=$dir/bin${under:+/$under} name from
    shift
    from=$dir/tools/$lib
    [ ! -e "$dir/$part/$lib/ld-linux-x86-64.so.2" ] || from=$dir/$part/$lib
    mkdir -p "$bin"
    for name in "$@"; do
        printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$from/ld-linux-x86-64.so.2" \
            "$from:$dir/$part/$lib" "$dir/$part/root/usr/bin/$name" > "$bin/$name"
        chmod +x "$bin/$name"
        "$bin/$name" "${version:---version}" > /dev/null || fail "the unpacked $name does not run"
    done
}

tools() {
    fetch "$dir/tools" trixie spirv-tools glslang-tools libc6 libstdc++6 libgcc-s1
    wrap tools spirv-val spirv-dis spirv-as glslangValidator
}

shaderc() {
    fetch "$dir/shaderc" trixie glslc libshaderc1
    wrap shaderc glslc
}

cross() {
    fetch "$dir/cross" trixie spirv-cross
    version=--revision wrap cross spirv-cross
}

newest() {
    fetch "$dir/newest" forky spirv-tools glslang-tools vkd3d-compiler libvkd3d-shader1 libvkd3d-utils1 libc6 libstdc++6 libgcc-s1
    under=newest wrap newest spirv-val spirv-dis glslangValidator vkd3d-compiler
}

# The build of Mesa 25 that goes with this machine's own libraries: Debian 13's is 25.0.7; Debian 12 has it in backports.
mesa_suite() {
    case $(. /etc/os-release && echo "${VERSION_CODENAME:-}") in
        bookworm) echo bookworm-backports ;;
        trixie) echo trixie ;;
        *) fail "lavapipe is fetched for Debian 12 and 13 only" ;;
    esac
}

lavapipe() {
    fetch "$dir/lavapipe" "$1" mesa-vulkan-drivers
    local driver=$dir/lavapipe/root/usr/lib/x86_64-linux-gnu/libvulkan_lvp.so
    [ -e "$driver" ] || fail "no lavapipe in mesa-vulkan-drivers of $1"
    printf '{"file_format_version":"1.0.0","ICD":{"api_version":"1.4.305","library_path":"%s"}}\n' \
        "$driver" > "$dir/lvp.json"
}

# The last series that assembles for sm_50 and for sm_120 too.
ptxas() {
    mkdir -p "$dir/ptxas" "$dir/bin"
    python3 -m pip download --quiet --no-deps --only-binary=:all: --dest "$dir/ptxas" nvidia-cuda-nvcc-cu12==12.9.86
    python3 -m zipfile -e "$dir"/ptxas/*.whl "$dir/ptxas/root"
    rm "$dir"/ptxas/*.whl
    mv "$dir/ptxas/root/nvidia/cuda_nvcc/bin/ptxas" "$dir/ptxas/ptxas"
    rm -r "$dir/ptxas/root"
    chmod +x "$dir/ptxas/ptxas"
    ln -sf ../ptxas/ptxas "$dir/bin/ptxas"
}

# The package has the texts of AMD's ISA guides as Python dictionaries; the tests read them directly.
pcode() {
    mkdir -p "$dir/pcode"
    python3 -m pip download --quiet --no-deps --only-binary=:all: --dest "$dir/pcode" tinygrad==0.14.0
    python3 -m zipfile -e "$dir"/pcode/*.whl "$dir/pcode/root"
    for name in rdna3 rdna4 cdna; do
        mv "$dir/pcode/root/tinygrad/runtime/autogen/amd/$name/str_pcode.py" "$dir/pcode/$name.py"
    done
    rm -r "$dir"/pcode/*.whl "$dir/pcode/root"
}

# The source package contains the library from DirectXShaderCompiler's release; nothing in it is built.
dxc() {
    mkdir -p "$dir/dxc"
    python3 -m pip download --quiet --no-deps --no-binary=:all: --dest "$dir/dxc" compushady==0.17.5
    tar -xzf "$dir"/dxc/compushady-*.tar.gz -C "$dir/dxc" --strip-components=3 --wildcards '*/libdxcompiler_x86_64.so.*'
    ln -sf "$(basename "$dir"/dxc/libdxcompiler_x86_64.so.*)" "$dir/dxc/libdxcompiler.so"
    rm "$dir"/dxc/*.tar.gz
}

dawn() {
    mkdir -p "$dir/dawn"
    (cd "$dir/dawn" && npm install --silent --no-audit --no-fund --ignore-scripts --prefix . webgpu@0.6.2)
    find "$dir/dawn/node_modules/webgpu/dist" -mindepth 1 -maxdepth 1 ! -name linux-x64 -exec rm -r {} +
}

# once PART ARGUMENT...: runs the function PART unless it already succeeded; the mark contains DIR, as paths are absolute.
once() {
    local part=$1
    if [ "$(cat "$dir/.$part.done" 2>/dev/null)" = "$dir" ]; then
        return
    fi
    rm -rf "${dir:?}/$part" "$dir/.$part.done"
    echo "judges.sh: fetching $part" >&2
    "$@"
    echo "$dir" > "$dir/.$part.done"
}

for need in apt-get dpkg-deb; do
    command -v "$need" > /dev/null || fail "$need is not here: the judges are Debian packages"
done
[ "$(dpkg --print-architecture)" = amd64 ] || fail "the judges are fetched for amd64 only"
suite=$(mesa_suite)
once tools
once shaderc
once cross
once lavapipe "$suite"
if python3 -m pip --version > /dev/null 2>&1; then once ptxas && once dxc && once pcode; else echo "judges.sh: going on without ptxas, DXC and AMD's pseudo-code: pip is not here" >&2; fi
if command -v npm > /dev/null; then once dawn; else echo "judges.sh: going on without Dawn: npm is not here" >&2; fi
[ "${2:-}" != newest ] || once newest
