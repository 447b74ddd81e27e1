using System;

// What orders are made of.
namespace Acme.Shop.Model
{
    using Acme.Shop.Pricing;

    public class Line
    {
        public Price Price { get; set; }
    }

    namespace Legacy
    {
        internal class OldLine : Line
        {
            public Line Upgrade() => new Line();
        }
    }
}

namespace Acme.Shop.Pricing
{
    public struct Price
    {
        public decimal Amount;
    }
}
