{-# LANGUAGE PatternSynonyms #-}
{-# LANGUAGE TemplateHaskell #-}

module StoreSpec where

import Data.Ledger.Store
import Test.Hspec
import Test.QuickCheck

newtype Small = Small Int

instance Arbitrary Small where
  arbitrary = Small <$> choose (0, 9)
  shrink (Small n) = [Small m | m <- shrink n, m >= 0]

class Shape a where
  area :: a -> Double
  name :: a -> String
  name _ = "shape"

data Square = Square
  { side :: Double
  , corner :: (Double, Double)
  }

instance Shape Square where
  area square = side square * side square

data Op = forall a. (Shape a) => Op a | Op :+ Op

pattern Unit :: Square
pattern Unit = Square 1 (0, 0)

makeLenses ''Square

spec :: Spec
spec = describe "insert" $ do
  it "finds what was put" $ do
    let store = empty (Limits 2) |> ("a", 1 :: Int)
    lookupAll ["a"] store `shouldBe` [1]
  it "refuses more than fits" $
    insert "b" 2 full `shouldBe` Left Full
  it "measures" $ area Unit `shouldSatisfy` (> 0)
  where
    full = empty (Limits 0)

prop_order :: Small -> Small -> Bool
prop_order (Small a) (Small b) = total [a, b] == total [b, a]

total :: [Int] -> Int
total = sum . filter (>= lowest)

lowest :: Int
lowest = 0
