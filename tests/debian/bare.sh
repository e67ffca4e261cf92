#!/usr/bin/env bash
# Run the two commands of a fresh machine on a bare Debian 12 (python3 and pip, nothing else), as a plain user and as root.
#
#   tests/debian/bare.sh DIR               ./memory-keeper demo and ./dev test, each as a plain user and as root
#   tests/debian/bare.sh DIR --ci          the same, then CI=true ./dev test as root and as the plain user
#   tests/debian/bare.sh DIR --run USER CMD...   only CMD, in a fresh copy of the checkout, as USER (plain or root)
#
# DIR/base is made once by debootstrap (delete it to make it again).
# Each call works on an overlay over it, in mount and pid namespaces of its own, so nothing stays mounted or running.
# Where packages come from is the machine's own configuration (apt, pip, npm, proxies, certificates), read when this runs.
set -euo pipefail

suite=bookworm
root=$(cd "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../.." && pwd)
passed_on='^(PIP_|UV_|npm_config_|SSL_CERT_|REQUESTS_CA_BUNDLE$|CURL_CA_BUNDLE$|NODE_EXTRA_CA_CERTS$|(https?|no|all)_proxy$|(HTTPS?|NO|ALL)_PROXY$)'

die() { echo "bare.sh: $*" >&2; exit 1; }

make_base() { # DIR/base: Debian's minbase with python3 and pip
    command -v debootstrap >/dev/null || {
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends debootstrap >/dev/null
    } || die "no debootstrap, and apt-get could not install it"
    local mirror
    # the first archive that apt itself uses and that has the suite; else the first of any suite of Debian
    mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
        awk -v suite="$suite" '$1 == suite { print $2; found = 1; exit } !first { first = $2 } END { if (!found) print first }')
    [ -n "$mirror" ] || die "apt has no sources on this machine"
    rm -rf "$dir/base.part"
    debootstrap --variant=minbase --include=python3,python3-pip "$suite" "$dir/base.part" "$mirror" >"$dir/debootstrap.log" 2>&1 ||
        die "debootstrap failed: see $dir/debootstrap.log"
    mv "$dir/base.part" "$dir/base"
}

local_indexes() { # directories of this machine that pip's configuration names; an index links to files beside itself
    { python3 -m pip config list 2>/dev/null || true; } | grep -oE '(file://)?/[^ "'\'']+' | sed -E 's|^file://(.*)/[^/]+/?$|\1|' | sort -u |
        while read -r path; do if [ -d "$path" ]; then echo "$path"; fi; done
}

copy_in() { # the same path inside, if this machine has it
    local path
    for path; do
        [ -e "$path" ] || continue
        mkdir -p "$new$(dirname "$path")"
        cp -a --remove-destination "$(realpath "$path")" "$new$path.bare.tmp" && rm -rf "${new:?}$path" && mv "$new$path.bare.tmp" "$new$path"
    done
}

furnish() { # what makes the overlay a machine: devices, a name server, this machine's sources, a user, two checkouts
    local node path home
    mount -t proc proc "$new/proc"
    mount -t tmpfs -o mode=755 tmpfs "$new/dev"
    mkdir "$new/dev/pts" "$new/dev/shm"
    for node in null zero full random urandom tty; do touch "$new/dev/$node" && mount --bind "/dev/$node" "$new/dev/$node"; done
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$new/dev/pts"
    mount -t tmpfs -o mode=1777 tmpfs "$new/dev/shm"
    ln -s pts/ptmx "$new/dev/ptmx"
    ln -s /proc/self/fd "$new/dev/fd"
    for node in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${node%:*}" "$new/dev/${node#*:}"; done

    copy_in /etc/apt /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt
    if [ -f "${XDG_CONFIG_HOME:-$HOME/.config}/pip/pip.conf" ]; then # for both users: it says where packages are
        cat "${XDG_CONFIG_HOME:-$HOME/.config}/pip/pip.conf" >"$new/etc/pip-of-the-machine.conf"
        pip_config=/etc/pip-of-the-machine.conf
    fi
    for path in $(local_indexes); do
        mkdir -p "$new$path" && mount --bind "$path" "$new$path" && mount -o remount,bind,ro "$new$path"
    done

    chroot "$new" useradd --create-home --shell /bin/bash plain
    for home in /root /home/plain; do
        mkdir "$new$home/checkout"
        tar -C "$root" --exclude=./.git --exclude=./.venv --exclude=./.venv.lock --exclude=__pycache__ --exclude='.*_cache' --exclude=.hypothesis --exclude=./dist -cf - . |
            tar -C "$new$home/checkout" --no-same-owner -xf -
    done
    chroot "$new" chown -R plain:plain /home/plain/checkout
}

as() { # as USER CMD...: in USER's checkout, with a login's environment and no more
    local user=$1 home=/root path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
    shift
    if [ "$user" = plain ]; then home=/home/plain path=/usr/local/bin:/usr/bin:/bin; fi
    (cd "$home/checkout" && setpriv --reuid="$user" --regid="$user" --init-groups --inh-caps=-all env -i HOME="$home" USER="$user" LOGNAME="$user" \
        SHELL=/bin/bash LANG=C.UTF-8 PATH=$path "${handed[@]}" "$@" </dev/null)
}

step() { # step USER CMD...: say it, do it, time it, remember it
    local from=$SECONDS code=0
    echo "== as $1: ${*:2}"
    as "$@" || code=$?
    report+=("$(printf 'exit %-3s %4s s  as %-5s  %s' "$code" $((SECONDS - from)) "$1" "${*:2}")")
    [ "$code" = 0 ] || failed=1
}

inside() { # in the new namespaces
    new=$run/root
    local pip_config='' name
    handed=()
    mkdir "$new" "$run/upper" "$run/work"
    chmod 755 "$run/upper" # the root directory of the system inside
    mount -t overlay overlay -o "lowerdir=$dir/base,upperdir=$run/upper,workdir=$run/work" "$new"
    furnish
    for name in $(compgen -e | grep -E "$passed_on"); do handed+=("$name=${!name}"); done
    if [ -n "$pip_config" ]; then handed+=("PIP_CONFIG_FILE=$pip_config"); fi
    # only the address: a bare Debian has no npm, and what fetches the CLI asks the registry itself
    if command -v npm >/dev/null; then handed+=("npm_config_registry=$(npm config get registry 2>/dev/null)"); fi

    # pivot_root rather than chroot: a chrooted process may not make user namespaces, which the real CLI's tests need
    mkdir "$new/.old"
    cd "$new" && pivot_root . .old && cd / && umount -l /.old && rmdir /.old
    hash -r
    report=() failed=0
    if [ "$1" = --run ]; then
        as "${@:2}"
        return
    fi
    for user in plain root; do
        step "$user" ./memory-keeper demo
        step "$user" ./dev test
    done
    if [ "$1" = --ci ]; then # root first: it installs the programs that a plain user can only ask for
        step root env CI=true ./dev test
        step plain env CI=true ./dev test
    fi
    echo
    printf '%s\n' "${report[@]}"
    return $failed
}

case "${1:-}" in
--inside)
    dir=$2 run=$3
    inside "${@:4}"
    ;;
'' | -*) die "usage: bare.sh DIR [--ci | --run USER CMD...]" ;;
*)
    [ "$(id -u)" = 0 ] || die "needs root: debootstrap and mounts"
    mkdir -p "$1" && dir=$(realpath "$1") && shift
    case "${1:---both}" in --both | --ci) ;; --run) [ $# -ge 3 ] || die "--run needs a user and a command" ;; *) die "unknown option $1" ;; esac
    [ -d "$dir/base" ] || make_base
    run=$(mktemp -d "$dir/run.XXXXXX")
    trap 'rm -rf --one-file-system "$run"' EXIT # its mounts went with their namespace
    unshare --mount --pid --fork --kill-child --propagation private "${BASH_SOURCE[0]}" --inside "$dir" "$run" "${@:---both}"
    ;;
esac
