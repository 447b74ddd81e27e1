//! Repositories that both a cluster and local mode index: generated code that changes at random, forks, and
//! small repositories written by hand. The repositories written by hand contain everything that generated
//! code lacks.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::Result;
use cairn_testkit::work_tree::git;
use cairn_testkit::{FixtureRepository, Mutation};

const NUM_GENERATED: usize = 24;
const NUM_FORKED: usize = 6;
const NUM_FILES: usize = 40;
/// The number of random changes to each repository of generated code.
pub(crate) const NUM_STEPS: usize = 6;
/// The folder of the parsers' fixtures, which contains at least one source file of each language.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/core/syntax/test_data");

pub(crate) struct Fixture {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// The name of the origin, if this is a bare clone. Contents and paths equal those of the origin until
    /// the origin changes.
    pub(crate) fork_of: Option<String>,
    content: Content,
}

enum Content {
    Generated(Box<Mutation>),
    Written(FixtureRepository),
    Cloned,
}

impl Fixture {
    pub(crate) fn url(&self) -> String {
        format!("file://{}", self.path.display())
    }

    fn generated(number: usize) -> Self {
        let mutation = Mutation::new(number as u64, NUM_FILES);
        let path = mutation.root().to_owned();
        Self {
            name: format!("fixture-{number:02}"),
            path,
            fork_of: None,
            content: Content::Generated(Box::new(mutation)),
        }
    }

    fn written(name: &str, repository: FixtureRepository) -> Self {
        let path = repository.root().to_owned();
        Self { name: name.to_owned(), path, fork_of: None, content: Content::Written(repository) }
    }

    fn fork(&self, name: String, folder: &Path) -> Self {
        let path = folder.join(&name);
        git(&self.path, &["clone", "-q", "--bare", ".", &path.to_string_lossy()]);
        Self { name, path, fork_of: Some(self.name.clone()), content: Content::Cloned }
    }

    pub(crate) fn is_generated(&self) -> bool {
        matches!(self.content, Content::Generated(_))
    }

    /// Changes generated code at random. In a repository written by hand, renames folders, and removes, adds
    /// and edits files.
    pub(crate) fn change(&mut self) -> Result<()> {
        match &mut self.content {
            Content::Generated(mutation) => (0..NUM_STEPS).for_each(|_| mutation.step()),
            Content::Written(repository) => change(repository)?,
            Content::Cloned => {}
        }
        Ok(())
    }
}

/// Creates all repositories. The forks are last, and at least one other repository is between each fork and
/// its origin.
pub(crate) fn fixtures(folder: &Path) -> Result<Vec<Fixture>> {
    let mut fixtures: Vec<Fixture> = (0..NUM_GENERATED).map(Fixture::generated).collect();
    let written = [("shop", shop()?), ("warehouse", warehouse()?), ("languages", languages()?)];
    fixtures.extend(written.map(|(name, repository)| Fixture::written(name, repository)));
    let mut forks: Vec<Fixture> =
        (0..NUM_FORKED).map(|number| fixtures[number].fork(format!("fork-{number}"), folder)).collect();
    let of_written = fixtures[NUM_GENERATED..].iter();
    forks.extend(of_written.map(|fixture| fixture.fork(format!("fork-of-{}", fixture.name), folder)));
    fixtures.extend(forks);
    Ok(fixtures)
}

fn change(repository: &mut FixtureRepository) -> Result<()> {
    let root = repository.root();
    for name in ["money", "python", "clients"] {
        if root.join(name).exists() {
            repository.rename(name, &format!("moved/{name}"))?;
        }
    }
    for path in ["shop/long.py", "ruby", "warehouse/audit.py"] {
        if root.join(path).exists() {
            repository.remove(path)?;
        }
    }
    repository.write(
        "added/returns.py",
        "def accept_return(order):\n    \"\"\"Takes goods back.\"\"\"\n    return order\n",
    )?;
    let readme = repository.read("README.md")?;
    repository.write("README.md", format!("{readme}\n## Returns\n\nSee `added/returns.py`.\n"))?;
    repository.commit("change").map(drop)
}

/// A repository that uses the packages of `warehouse`. This repository contains documents, tests, tags,
/// secrets, a wide class, a long function, and one file for each reason to skip a file.
fn shop() -> Result<FixtureRepository> {
    let mut shop = FixtureRepository::new()?;
    for (path, text) in SHOP {
        shop.write(path, text)?;
    }
    let methods: String =
        (0..60).map(|number| format!("    def rule_{number}(self, order):\n        return order\n\n")).collect();
    shop.write("shop/rules.py", format!("class ShippingRules:\n    \"\"\"All rules of shipping.\"\"\"\n\n{methods}"))?;
    let steps: String = (0..400).map(|number| format!("    total = total + parcels[{number}].weight\n")).collect();
    shop.write("shop/long.py", format!("def weigh_all_parcels(parcels):\n    total = 0\n{steps}    return total\n"))?;
    // The password is split into two strings, so that secret scanners do not report this source file.
    shop.write("shop/settings.py", format!("password = \"{}{}\"\nTIMEOUT = 5\n", "Xk7vQ2m", "Lp9rTz4w"))?;
    shop.write("deploy/database.yaml", format!("url: postgres://shop:{}{}@db.example.org/shop\n", "Hq4z", "Tn8w2Lk"))?;
    shop.write("assets/logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0")?;
    shop.write("assets/large.txt", "A line of a large file.\n".repeat(2_000))?;
    shop.write("assets/legacy.txt", b"Gr\xfc\xdfe aus dem Lager\n")?;
    symlink("main.py", shop.root().join("shop/link.py"))?;
    shop.commit("start")?;
    Ok(shop)
}

const SHOP: &[(&str, &str)] = &[
    (
        ".cairn.yaml",
        "max_file_size: 40000\nexclude:\n  - 'old/**'\nmodules:\n  money: Amounts and currencies.\ntags:\n  money:\n    - 'money/**'\n  \
         snakes:\n    languages: [python]\nnavigation_docs:\n  - 'guides/**'\n",
    ),
    (
        "AGENTS.md",
        "# Shop\n\nSells what the warehouse has.\n\n## Entry points\n\n- `shop/main.py`\n\n## Key Patterns\n\n### Placing orders\n\n\
         `OrderService.place_order` reserves stock before it charges.\n",
    ),
    (
        "README.md",
        "# Shop\n\nThe shop of the examples.\n\n## Refunds\n\nA refund goes the way that the payment came.\n",
    ),
    (
        "guides/payment.md",
        "# Payment\n\nHow payments are retried.\n\n## Retries\n\nThree times, then `charge_card` gives up.\n",
    ),
    ("NOTES.txt", "The team talked about delivery.\nParcels leave on Monday.\n"),
    ("CHANGELOG.md", "# Changes\n\n## 1.1\n\nOrders may be cancelled.\n"),
    ("LICENSE", "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy.\n"),
    ("pyproject.toml", "[project]\nname = \"shop\"\nversion = \"1.0\"\ndependencies = [\"warehouse\"]\n"),
    ("shop/__init__.py", "from shop.orders import OrderService\n"),
    (
        "shop/main.py",
        "from warehouse.stock import reserve_stock\n\nfrom shop.orders import OrderService\n\n\ndef run_shop(order):\n    \
         reserve_stock(order)\n    return OrderService().place_order(order)\n",
    ),
    (
        "shop/orders.py",
        "from warehouse.stock import StockKeeper, reserve_stock\nfrom money.currency import to_cents\n\n\nclass BaseService:\n    \
         def open(self):\n        return self\n\n    def close(self):\n        return None\n\n\nclass OrderService(BaseService):\n    \
         \"\"\"Places orders.\"\"\"\n\n    def place_order(self, order):\n        \"\"\"Reserves and charges.\"\"\"\n        \
         reserve_stock(order)\n        return charge_card(order)\n\n    def cancel_order(self, order):\n        self.close()\n        \
         return to_cents(order)\n\n\nclass ExpressOrderService(OrderService):\n    def place_order(self, order):\n        \
         return super().place_order(order)\n\n\ndef charge_card(order):\n    return to_cents(order)\n",
    ),
    ("money/__init__.py", ""),
    ("money/currency.py", "def to_cents(amount):\n    \"\"\"Cents of an amount.\"\"\"\n    return int(amount * 100)\n"),
    (
        "tests/test_orders.py",
        "from shop.orders import OrderService\n\n\ndef test_an_order_is_placed():\n    assert OrderService().place_order(1) == 100\n",
    ),
    ("web/package.json", "{\"name\": \"@shop/web\", \"dependencies\": {\"@warehouse/client\": \"1.0.0\"}}\n"),
    (
        "web/src/cart.ts",
        "import { fetchStock } from '@warehouse/client';\n\nexport function refreshCart(id: string) {\n  return fetchStock(id);\n}\n",
    ),
    ("deploy/Dockerfile", "FROM python:3.12\nCOPY shop /shop\nCMD [\"python\", \"-m\", \"shop.main\"]\n"),
    ("deploy/schema.sql", "CREATE TABLE orders (\n  id INTEGER PRIMARY KEY,\n  total INTEGER NOT NULL\n);\n"),
    ("generated/api.py", "# @generated by the compiler of interfaces. DO NOT EDIT.\nVERSION = 1\n"),
    ("old/orders.py", "def place_order_as_before(order):\n    return order\n"),
    ("node_modules/left/index.js", "module.exports = 1;\n"),
    ("package-lock.json", "{}\n"),
    (".env", "TOKEN=none\n"),
];

/// A repository that publishes packages of three kinds. Other repositories use these packages.
fn warehouse() -> Result<FixtureRepository> {
    let mut warehouse = FixtureRepository::new()?;
    for (path, text) in WAREHOUSE {
        warehouse.write(path, text)?;
    }
    warehouse.commit("start")?;
    Ok(warehouse)
}

const WAREHOUSE: &[(&str, &str)] = &[
    ("README.md", "# Warehouse\n\nKeeps stock.\n"),
    ("pyproject.toml", "[project]\nname = \"warehouse\"\nversion = \"1.0\"\n"),
    ("warehouse/__init__.py", ""),
    (
        "warehouse/stock.py",
        "class StockKeeper:\n    def count(self):\n        return 0\n\n\ndef reserve_stock(order):\n    \"\"\"Sets goods aside.\"\"\"\n    \
         return StockKeeper().count()\n",
    ),
    (
        "warehouse/audit.py",
        "from warehouse.stock import reserve_stock\n\n\ndef audit_stock():\n    return reserve_stock(None)\n",
    ),
    ("clients/package.json", "{\"name\": \"@warehouse/client\", \"version\": \"1.0.0\", \"main\": \"index.ts\"}\n"),
    ("clients/index.ts", "export function fetchStock(id: string) {\n  return fetch('/stock/' + id);\n}\n"),
    ("go.mod", "module example.org/warehouse\n\ngo 1.22\n"),
    (
        "shelf/shelf.go",
        "package shelf\n\n// FindShelf says where goods lie.\nfunc FindShelf(id string) int {\n\treturn len(id)\n}\n",
    ),
];

/// The fixtures of the parsers: at least one source file of each language, and documents of each kind.
fn languages() -> Result<FixtureRepository> {
    let mut languages = FixtureRepository::new()?;
    languages.write("README.md", "# Languages\n\nSources of many.\n")?;
    for folder in fs::read_dir(SOURCES)? {
        let folder = folder?.path();
        for file in fs::read_dir(&folder)? {
            let file = file?.path();
            if file.extension().is_none_or(|extension| extension != "snap") {
                languages.write(&file.strip_prefix(SOURCES)?.to_string_lossy(), fs::read(&file)?)?;
            }
        }
    }
    languages.commit("start")?;
    Ok(languages)
}
