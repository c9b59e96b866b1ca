# debian.sh: fetches Debian packages from other suites without installing them. Sourced by other scripts, which define `fail`.

# The first Debian mirror (not the security one) that this machine's apt uses, in either source format.
mirror() {
    find /etc/apt -name '*.list' -o -name '*.sources' | sort | xargs cat |
        sed -nE 's#^(deb |URIs:).*(https?://[^ ]+/debian)/?( .*)?$#\2#p' | sed -n 1p
}

# fetch DIR SUITES PACKAGE...: unpacks packages from suites (one, or several separated by spaces) into DIR/root, with apt's
# state kept inside DIR. The array `members` names the files to unpack; without it that is all of them.
fetch() {
    local into=$1 suites=$2 from suite
    shift 2
    from=$(mirror)
    [ -n "$from" ] || fail "no Debian mirror in the apt sources"
    mkdir -p "$into"/{lists/partial,cache/archives/partial,deb,root}
    local keys=/usr/share/keyrings/debian-archive-keyring.gpg
    for suite in $suites; do
        echo "deb [signed-by=$keys] $from $suite main"
    done > "$into/sources.list"
    local apt=(apt-get -qq -o Dir::Etc::SourceList="$into/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o Dir::State::Lists="$into/lists" -o Dir::Cache="$into/cache" -o APT::Sandbox::User=root)
    "${apt[@]}" update
    (cd "$into/deb" && "${apt[@]}" download "$@") || return
    local package
    for package in "$into"/deb/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar --extract --directory "$into/root" "${members[@]}"
    done
    rm -rf "$into"/{lists,cache,deb}
}
