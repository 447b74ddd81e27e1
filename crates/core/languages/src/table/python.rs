//! Python.

use super::shared::{BASE, HASH_DOC, NO_TESTS};
use crate::builtins::{Builtins, StandardModules};
use crate::family::Family;
use crate::row::{LanguageClass, LanguageRow, ModuleDoc, ModuleRules, RelativeImports, TestRules, VisibilityRule};

pub(super) const ROWS: &[LanguageRow] = &[LanguageRow {
    name: "python",
    family: Family::Python,
    class: LanguageClass::Code,
    grammar: grammar!("tree-sitter-python", "0.25.0", tree_sitter_python::LANGUAGE),
    query: include_str!("python.scm"),
    extensions: &["py", "pyi", "pyw", "pyx", "pxd"],
    file_names: &["SConstruct", "SConscript", "wscript"],
    interpreters: &["python", "pypy"],
    doc: HASH_DOC,
    visibility: VisibilityRule::Underscore,
    tests: TestRules {
        directories: &["test", "tests", "testing", "testdata"],
        file_prefixes: &["test_", "conftest.", "tests."],
        stem_suffixes: &["_test", "_tests"],
        decorators: &["pytest.fixture", "pytest.mark.parametrize"],
        function_prefixes: &["test"],
        libraries: &["pytest", "unittest"],
        class_prefixes: &["Test"],
        class_marks: &["TestCase"],
        ..NO_TESTS
    },
    modules: ModuleRules {
        enabled: true,
        drop_leading: &["lib", "python"],
        drop_inner: &["src"],
        index_stems: &["__init__", "__main__"],
        folder_is_module: false,
    },
    module_doc: ModuleDoc::FirstString,
    relative_imports: RelativeImports::LeadingDots,
    generic_brackets: b"[",
    self_words: &["self", "cls"],
    super_words: &["super()", "super"],
    self_types: &["Self", "cls"],
    quoted_types: true,
    call_instantiates: true,
    transparent_types: &["Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired"],
    upper_case_constants: true,
    spread_nodes: &["list_splat", "dictionary_splat"],
    builtins: BUILTINS,
    standard_modules: StandardModules::FirstPart(STANDARD_MODULES),
    ..BASE
}];

const BUILTINS: Builtins = Builtins { shared: &[SHARED_NAMES], linker: &[LINKER_NAMES], ..Builtins::NONE };

const SHARED_NAMES: &str = "
    ArithmeticError AssertionError AttributeError BaseException ConnectionError DeprecationWarning
    EOFError Exception False FileExistsError FileNotFoundError FutureWarning GeneratorExit IOError
    ImportError IndexError InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError
    MemoryError ModuleNotFoundError NameError None NotADirectoryError NotImplementedError OSError
    OverflowError PermissionError RecursionError RuntimeError RuntimeWarning StopAsyncIteration
    StopIteration SystemExit TimeoutError True TypeError UnicodeDecodeError UnicodeEncodeError UserWarning
    ValueError Warning ZeroDivisionError __import__ abs all any ascii bin bool breakpoint bytearray bytes
    callable chr classmethod compile complex delattr dict dir divmod enumerate eval exec filter float
    format frozenset getattr globals hasattr hash help hex id input int isinstance issubclass iter len
    list locals map max memoryview min next object oct open ord pow print property range repr reversed
    round set setattr slice sorted staticmethod str sum super tuple type vars zip
";

const LINKER_NAMES: &str = "
    BaseExceptionGroup BlockingIOError BrokenPipeError BufferError BytesWarning ChildProcessError
    ConnectionAbortedError ConnectionRefusedError ConnectionResetError Ellipsis EncodingWarning
    EnvironmentError ExceptionGroup FloatingPointError ImportWarning IndentationError NotImplemented
    PendingDeprecationWarning ProcessLookupError ReferenceError ResourceWarning SyntaxError SyntaxWarning
    SystemError TabError UnboundLocalError UnicodeError UnicodeTranslateError UnicodeWarning __name__
    aiter anext copyright credits exit license quit
";

/// Modules of the standard library.
const STANDARD_MODULES: &str = "
    abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii
    bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections
    colorsys compileall concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes
    curses dataclasses datetime dbm decimal difflib dis distutils doctest email encodings ensurepip enum
    errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc genericpath getopt
    getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp
    importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma mailbox
    mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt
    ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes
    pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc
    pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched secrets
    select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3
    sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau
    symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap this threading time
    timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing
    unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref
    xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo
";
