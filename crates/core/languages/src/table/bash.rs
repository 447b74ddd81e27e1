//! Bash and other shells.

use super::shared::{BASE, HASH_DOC, NO_TESTS};
use crate::builtins::Builtins;
use crate::family::Family;
use crate::row::{LanguageClass, LanguageRow, TestRules};

pub(super) const ROWS: &[LanguageRow] = &[LanguageRow {
    name: "bash",
    family: Family::Bash,
    class: LanguageClass::Code,
    grammar: grammar!("tree-sitter-bash", "0.25.1", tree_sitter_bash::LANGUAGE),
    query: include_str!("bash.scm"),
    extensions: &["sh", "bash", "zsh", "ksh", "bats", "ebuild", "eclass"],
    file_names: &[
        ".bash_aliases",
        ".bash_logout",
        ".bash_profile",
        ".bashrc",
        ".envrc",
        ".profile",
        ".zprofile",
        ".zshenv",
        ".zshrc",
        "APKBUILD",
        "PKGBUILD",
    ],
    interpreters: &["bash", "sh", "zsh", "ksh", "dash", "ash", "bats"],
    doc: HASH_DOC,
    tests: TestRules {
        directories: &["test", "tests", "spec", "bats", "testdata"],
        file_suffixes: &[".bats"],
        stem_suffixes: &["_test", "-test", ".test", "_spec"],
        function_prefixes: &["test"],
        libraries: &["shunit2", "bash_unit"],
        ..NO_TESTS
    },
    separators: &[],
    generic_brackets: b"",
    self_words: &[],
    super_words: &[],
    builtins: BUILTINS,
    ..BASE
}];

/// Commands of the shell, and programs that most scripts call. A call of such a name refers to a function of
/// the repository only if the calling file defines the function.
const BUILTINS: Builtins = Builtins { parser: &[PARSER_NAMES], ..Builtins::NONE };

const PARSER_NAMES: &str = "
    @test alias apt apt-get awk base64 basename bash bg bind break brew builtin bunzip2 bzip2 caller cargo
    case cat cd chgrp chmod chown chroot clear cmake cmp column comm command compgen complete compopt
    continue coproc cp cpio crontab curl cut date dd declare df diff dig dirname dirs disown dmesg do
    docker docker-compose done dpkg du echo egrep elif else enable env esac eval exec exit expand export
    expr false fc fg fgrep fi file find flock fmt fold for free ftp function gawk gcc getent getopt
    getopts git go gpg grep groupadd groups gunzip gzip hash head helm help history hostname iconv id if
    ifconfig in install ip iptables java jobs jq kill kubectl ldd less let ln local locale logger logname
    logout ls lsof make man mapfile md5sum mkdir mkfifo mknod mktemp more mount mv mvn nc netstat nice nl
    node nohup npm nproc npx od openssl passwd paste patch perl pgrep php ping pip pip3 pkg-config pkill
    podman popd printenv printf ps psql pushd pwd python python3 read readarray readlink readonly realpath
    reset return rm rmdir rpm rsync ruby scp screen sed select seq service set sh sha1sum sha256sum shasum
    shift shopt shuf sleep sort source split ssh ssh-keygen stat strings stty su sudo sum suspend sync
    sysctl systemctl tac tail tar tee terraform test then time timeout times tmux top touch tput tr trap
    tree true truncate tty type typeset ulimit umask umount unalias uname uniq unlink unset until unxz
    unzip uptime useradd usermod wait wc wget which while who whoami xargs xxd xz yarn yes yum zcat zip
    zsh zstd
";
