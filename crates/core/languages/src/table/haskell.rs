//! Haskell.

use super::shared::{BASE, NO_TESTS, PATH_MODULES};
use crate::builtins::Builtins;
use crate::family::Family;
use crate::row::{DocStyle, LanguageClass, LanguageRow, ModuleRules, TestRules, VisibilityRule};

pub(super) const ROWS: &[LanguageRow] = &[LanguageRow {
    name: "haskell",
    family: Family::Haskell,
    class: LanguageClass::Code,
    grammar: grammar!("tree-sitter-haskell", "0.24.1", tree_sitter_haskell::LANGUAGE),
    query: include_str!("haskell.scm"),
    extensions: &["hs", "hs-boot"],
    interpreters: &["runhaskell", "stack"],
    doc: DocStyle { line_prefixes: &["-- |", "--"], block_prefixes: &["{-|", "{- |", "{-"] },
    visibility: VisibilityRule::Listed,
    tests: TestRules {
        stem_suffixes: &["Spec", "Test", "Tests"],
        function_prefixes: &["spec", "test", "prop_", "unit_", "hprop_"],
        libraries: &["Test.Hspec", "Test.Tasty", "Test.QuickCheck", "Test.HUnit", "Hedgehog"],
        ..NO_TESTS
    },
    modules: ModuleRules { drop_leading: &["app", "lib", "library", "test", "tests"], ..PATH_MODULES },
    generic_brackets: b"",
    self_words: &[],
    super_words: &[],
    builtins: BUILTINS,
    ..BASE
}];

const BUILTINS: Builtins = Builtins { parser: &[PARSER_NAMES], ..Builtins::NONE };

const PARSER_NAMES: &str = "
    $ $! Applicative Bool Bounded Char Double EQ Either Enum Eq False FilePath Float Floating Foldable
    Fractional Functor GT IO IOError Int Integer Integral Just LT Left Maybe Monad MonadFail Monoid
    Nothing Num Ord Ordering Rational Read ReadS Real RealFloat RealFrac Right Semigroup Show ShowS String
    Traversable True Word abs all and any appendFile asTypeOf break ceiling compare concat concatMap const
    cos curry cycle div divMod drop dropWhile either elem error errorWithoutStackTrace even exp fail
    filter flip floor fmap foldMap foldl foldl1 foldr foldr1 fromEnum fromInteger fromIntegral
    fromRational fst gcd getChar getContents getLine head id init interact ioError iterate last lcm length
    lex lines log lookup map mapM mapM_ mappend max maxBound maximum maybe mconcat mempty min minBound
    minimum mod negate not notElem null odd or otherwise pi pred print product properFraction pure putChar
    putStr putStrLn quot quotRem read readFile readIO readLn readParen reads realToFrac recip rem repeat
    replicate return reverse round scanl scanl1 scanr scanr1 seq sequence sequenceA sequence_ show
    showChar showParen showString shows showsPrec signum sin snd span splitAt sqrt subtract succ sum tail
    take takeWhile tan toEnum toInteger toRational traverse truncate uncurry undefined unlines until
    unwords unzip unzip3 userError words writeFile zip zip3 zipWith zipWith3
";
