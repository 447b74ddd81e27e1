use cairn_domain::EdgeKind::{Imports, References};

use crate::support::{check, check_kinds};

const SHAPE: (&str, &str) = (
    "src/Data/Shape.hs",
    "module Data.Shape (Shape (..), HasArea (..), unit, scale) where\n\ndata Shape\n  = Circle Double\n  | Box {width :: Double, height :: Double}\n\nclass HasArea a where\n  area :: a -> Double\n\ninstance HasArea Shape where\n  area (Circle r) = square r\n  area box = width box * height box\n\nunit :: Shape\nunit = Circle 1\n\nscale :: Double -> Shape -> Shape\nscale by shape = case shape of\n  Circle r -> Circle (by * r)\n  other -> grow other\n  where\n    grow square = other2 square\n    other2 b = b\n\nsquare :: Double -> Double\nsquare x = x * x\n",
);

#[test]
fn names_of_one_module() {
    check(
        &[SHAPE],
        &[
            "src/Data/Shape.hs:10 Shape IMPLEMENTS src/Data/Shape.hs:HasArea exact",
            "src/Data/Shape.hs:11 Shape.area CALLS src/Data/Shape.hs:square exact",
            "src/Data/Shape.hs:20 scale CALLS src/Data/Shape.hs:scale.grow exact",
            "src/Data/Shape.hs:22 scale.grow CALLS src/Data/Shape.hs:scale.other2 exact",
        ],
    );
    check_kinds(
        &[SHAPE],
        &[References],
        &[
            "src/Data/Shape.hs:11 Shape.area REFERENCES src/Data/Shape.hs:Shape.Circle exact",
            "src/Data/Shape.hs:12 Shape.area REFERENCES src/Data/Shape.hs:Shape.height exact",
            "src/Data/Shape.hs:12 Shape.area REFERENCES src/Data/Shape.hs:Shape.width exact",
            "src/Data/Shape.hs:14 unit REFERENCES src/Data/Shape.hs:Shape exact",
            "src/Data/Shape.hs:15 unit REFERENCES src/Data/Shape.hs:Shape.Circle exact",
            "src/Data/Shape.hs:17 scale REFERENCES src/Data/Shape.hs:Shape exact",
            "src/Data/Shape.hs:17 scale REFERENCES src/Data/Shape.hs:Shape exact",
            "src/Data/Shape.hs:19 scale REFERENCES src/Data/Shape.hs:Shape.Circle exact",
            "src/Data/Shape.hs:19 scale REFERENCES src/Data/Shape.hs:Shape.Circle exact",
        ],
    );
}

#[test]
fn modules_by_alias_list_and_whole() {
    let main = "module Main where\n\nimport qualified Data.Shape as S\nimport Data.Shape (Shape (..), scale)\nimport Data.Umbrella\nimport qualified Data.Map as Map\n\nmain :: IO ()\nmain = do\n  print (S.area (scale 2 S.unit))\n  print (Map.lookup 1 Map.empty)\n  run (Circle 3)\n  fold [1]\n\nrun :: S.Shape -> IO ()\nrun shape = print (width shape)\n";
    let other = "module Main where\n\nmain :: IO ()\nmain = run 1\n";
    let umbrella =
        "module Data.Umbrella (module Data.Fold, module Data.Umbrella) where\n\nimport Data.Fold hiding (unfold)\n";
    let fold = "module Data.Fold where\n\nfold :: [Int] -> Int\nfold xs = length xs\n";
    let files = [
        SHAPE,
        ("app/Main.hs", main),
        ("test/Main.hs", other),
        ("src/Data/Umbrella.hs", umbrella),
        ("src/Data/Fold.hs", fold),
    ];

    check(
        &files,
        &[
            "app/Main.hs:10 main CALLS src/Data/Shape.hs:HasArea.area import",
            "app/Main.hs:10 main CALLS src/Data/Shape.hs:scale import",
            "app/Main.hs:12 main CALLS app/Main.hs:run exact",
            "app/Main.hs:13 main CALLS src/Data/Fold.hs:fold import",
            "src/Data/Shape.hs:10 Shape IMPLEMENTS src/Data/Shape.hs:HasArea exact",
            "src/Data/Shape.hs:11 Shape.area CALLS src/Data/Shape.hs:square exact",
            "src/Data/Shape.hs:20 scale CALLS src/Data/Shape.hs:scale.grow exact",
            "src/Data/Shape.hs:22 scale.grow CALLS src/Data/Shape.hs:scale.other2 exact",
        ],
    );
    let others =
        [("src/Data/Shape.hs", "module Data.Shape where\n\ndata Shape = Circle Double | Box {width :: Double}\n")];
    let files: Vec<_> = others.into_iter().chain(files.into_iter().skip(1)).collect();
    check_kinds(
        &files,
        &[Imports, References],
        &[
            "app/Main.hs:3 - IMPORTS src/Data/Shape.hs import",
            "app/Main.hs:4 - IMPORTS src/Data/Shape.hs import",
            "app/Main.hs:4 - IMPORTS src/Data/Shape.hs:Shape import",
            "app/Main.hs:5 - IMPORTS src/Data/Umbrella.hs import",
            "app/Main.hs:12 main REFERENCES src/Data/Shape.hs:Shape.Circle import",
            "app/Main.hs:15 run REFERENCES src/Data/Shape.hs:Shape import",
            "app/Main.hs:16 run REFERENCES src/Data/Shape.hs:Shape.width import",
            "src/Data/Umbrella.hs:1 - IMPORTS src/Data/Fold.hs import",
            "src/Data/Umbrella.hs:3 - IMPORTS src/Data/Fold.hs import",
        ],
    );
}

#[test]
fn signatures_apart_from_their_equations() {
    let pairs = "module Pairs where\n\none :: Int -> Int\ntwo :: Int -> Int\n\none x = two x\ntwo x = x\n";
    check(&[("Pairs.hs", pairs)], &["Pairs.hs:6 one CALLS Pairs.hs:two exact"]);
}
