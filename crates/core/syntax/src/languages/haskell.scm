; haskell
