{-# LANGUAGE GADTs #-}
{-# LANGUAGE LambdaCase #-}
{-# LANGUAGE TypeFamilies #-}

-- | A store of values under keys, with a log of what was done to it.
--
-- Import it qualified.
module Data.Ledger.Store
  ( -- * Types
    Store (..)
  , Entry (Put, Drop)
  , Key
  , MonadStore (..)
  , StoreError

    -- * Use
  , empty
  , insert
  , lookupAll
  , (|>)
  , module Data.Ledger.Types
  ) where

import Control.Monad (forM_, unless, when)
import Control.Monad.State.Strict
import qualified Data.ByteString as BS
import Data.Ledger.Types
import Data.List (foldl', sortBy)
import Data.Map.Strict (Map, (!?))
import qualified Data.Map.Strict as Map
import Data.Maybe hiding (fromJust)
import Data.Text qualified as T
import Prelude hiding (lookup)

infixl 5 |>

-- | What keys are made of.
type Key = T.Text

-- | Values by key.
data Store v = Store
  { entries :: !(Map Key v)
  -- ^ what is there now
  , history :: [Entry v] -- ^ newest first
  , limits :: Limits
  }
  deriving (Show, Eq)

-- | Something that was done.
data Entry v
  = Put Key v
  | Drop Key
  | Key :=> v
  deriving stock (Show)
  deriving anyclass (Binary.Binary)

newtype Limits = Limits {maxEntries :: Int}
  deriving newtype (Num)

data StoreError
  = Full
  | Missing !Key
  deriving (Eq, Ord)

-- | Questions, each with the type of its answer.
data Query v a where
  Size :: Query v Int
  Find :: Key -> Query v (Maybe v)
  Page :: {offset :: Int, size :: Int} -> Query v [v]

-- | Where a store can be kept.
class (Monad m) => MonadStore m where
  type Value m

  -- | The store as it is.
  getStore :: m (Store (Value m))

  putStore :: Store (Value m) -> m ()
  putStore _ = pure ()

  modifyStore, resetStore :: (Store (Value m) -> Store (Value m)) -> m ()

type family Elem c where
  Elem (Store v) = v

instance Functor Store where
  fmap f store = store {entries = Map.map f (entries store), history = map (mapEntry f) (history store)}

instance (Semigroup v) => Semigroup (Store v) where
  a <> b = a {entries = merged}
    where
      merged = Map.unionWith (<>) (entries a) (entries b)

instance MonadStore (StateT (Store v) IO) where
  type Value (StateT (Store v) IO) = v
  getStore = get
  putStore = put

deriving instance Ord Limits

-- | A store without entries.
empty :: Limits -> Store v
empty = Store Map.empty []

-- | Puts a value under a key. The oldest entry makes place
-- if there is none.
insert :: Key -> v -> Store v -> Either StoreError (Store v)
insert key value store
  | isFull store = Left Full
  | T.null key = Left (Missing key)
  | otherwise = Right $ record (Put key value) store {entries = Map.insert key value (entries store)}

isFull :: Store v -> Bool
isFull Store {entries = present, limits = Limits most} = Map.size present >= most

{- | Adds to the history.

The newest comes first.
-}
record :: Entry v -> Store v -> Store v
record entry store = store {history = entry : history store}

mapEntry :: (a -> b) -> Entry a -> Entry b
mapEntry f (Put key value) = Put key (f value)
mapEntry _ (Drop key) = Drop key
mapEntry f (key :=> value) = key :=> f value

-- | 'insert' from left to right.
(|>) :: Store v -> (Key, v) -> Store v
store |> (key, value) = either (const store) id (insert key value store)

-- | All values under the keys, in order.
lookupAll :: forall v. [Key] -> Store v -> [v]
lookupAll keys Store {..} = go keys
  where
    go :: [Key] -> [v]
    go [] = []
    go (key : rest) = case entries !? key of
      Just value -> value : go rest
      Nothing
        | strict -> error (describe key)
        | otherwise -> go rest
    strict = null history
    describe key = "missing: " ++ T.unpack key

answer :: Query v a -> Store v -> a
answer Size = Map.size . entries
answer (Find key) = Map.lookup key . entries
answer Page {offset, size} = take size . drop offset . Map.elems . entries

-- Runs what is asked until nothing is left.
serve :: (MonadStore m, MonadIO m) => [Key] -> m ()
serve = \case
  [] -> pure ()
  key : rest -> do
    store <- getStore
    let found = lookupAll [key] store
        report text = liftIO (putStrLn (T.unpack text))
    forM_ found $ \_ -> report key
    when (isFull store) $ resetStore id
    unless (null rest) (serve rest)
    mapM_ report [name | name <- rest, not (T.null name)]
    key `track` store

track :: (MonadIO m) => Key -> Store v -> m ()
track key store = liftIO . print $ foldl' step 0 (sortBy compareSize (history store))
  where
    step total _ = total + 1 :: Int
    compareSize a b = compare (entrySize a) (entrySize b)

entrySize :: Entry v -> Int
entrySize entry
  | Put key _ <- entry = T.length key
  | otherwise = 0
