package com.acme
package shop

import scala.collection.mutable

class Cart(lines: Seq[model.Line]) {
  def total: Int = pricing.Prices.sum(lines)
}

package model {
  case class Line(name: String, cents: Int)
}

package pricing {
  import model.Line

  object Prices {
    def sum(lines: Seq[Line]): Int = lines.map(_.cents).sum
  }
}
