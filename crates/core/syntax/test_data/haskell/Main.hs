module Main (main) where

import Data.Foldable (for_)
import qualified Data.Ledger.Store as Store
import Data.Ledger.Store (Key, Store (..), StoreError, (|>))
import Options.Applicative
import System.Environment (getArgs)
import System.Exit (exitFailure)

-- | What the program was asked to do.
data Options = Options
  { optPath :: FilePath
  , optVerbose :: Bool
  , optLimits :: Store.Limits
  }

data Level = Quiet | Normal | Loud
  deriving (Show, Read, Eq, Enum, Bounded)

main :: IO ()
main = do
  options <- execParser (info parser fullDesc)
  args <- getArgs
  run options args >>= report

parser :: Parser Options
parser =
  Options
    <$> strOption (long "path" <> metavar "FILE")
    <*> switch (long "verbose")
    <*> (Store.Limits <$> option auto (long "limit"))

run :: Options -> [String] -> IO (Either StoreError (Store Int))
run Options {optPath = path, optLimits = limits} args = do
  content <- readFile path
  let store = foldr addLine start (lines content)
      start = Store.empty limits |> (toKey "first", 0)
      addLine line acc = acc |> (toKey line, length args)
  for_ args $ putStrLn . shout
  pure (Store.insert (toKey "last") 1 store)
  where
    shout = map succ

report :: Either StoreError (Store Int) -> IO ()
report (Left problem) = print problem *> exitFailure
report (Right Store {history = []}) = pure ()
report (Right store) = print (level `seq` length (history store))

level, defaultLevel :: Level
level = defaultLevel
defaultLevel = Normal

toKey :: String -> Key
toKey = read

foreign import ccall unsafe "math.h sin" c_sin :: Double -> Double
