//! Files with several namespaces.

use crate::support::check;

#[test]
fn each_class_belongs_to_its_own_namespace() {
    let shop = "<?php\nnamespace Acme\\Model;\nuse Acme\\Pricing\\Price;\nclass Line extends Price { function cost() { return $this->amount(); } }\nnamespace Acme\\Pricing;\nclass Price { function amount() { return 1; } }\n";
    let other = "<?php\nnamespace Other;\nclass Price {}\n";
    let app = "<?php\nnamespace App;\nuse Acme\\Pricing\\Price;\nfunction run() { return new Price(); }\n";
    check(
        &[("shop.php", shop), ("other.php", other), ("app.php", app)],
        &[
            "app.php:4 run CALLS shop.php:Acme.Pricing.Price import",
            "shop.php:4 Acme.Model.Line EXTENDS shop.php:Acme.Pricing.Price import",
            "shop.php:4 Acme.Model.Line.cost CALLS shop.php:Acme.Pricing.Price.amount import",
        ],
    );
    let shop = "namespace Acme.Model { using Acme.Pricing; class Line : Price { void Cost() { Amount(); } } }\nnamespace Acme.Pricing { class Price { void Amount() {} } }\n";
    let app = "using Acme.Pricing;\nnamespace App { class Run { void Go() { new Price(); } } }\n";
    check(
        &[("Shop.cs", shop), ("App.cs", app)],
        &[
            "App.cs:2 Run.Go CALLS Shop.cs:Acme.Pricing.Price import",
            "Shop.cs:1 Acme.Model.Line EXTENDS Shop.cs:Acme.Pricing.Price import",
            "Shop.cs:1 Acme.Model.Line.Cost CALLS Shop.cs:Acme.Pricing.Price.Amount import",
        ],
    );
}
