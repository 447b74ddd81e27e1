; Elements: a capitalised one uses a component.

((jsx_opening_element name: (identifier) @reference.call) (#set! capitalized "true"))
((jsx_self_closing_element name: (identifier) @reference.call) (#set! capitalized "true"))
(jsx_opening_element name: (member_expression object: (_) @receiver property: (_) @name) @reference.call)
(jsx_self_closing_element name: (member_expression object: (_) @receiver property: (_) @name) @reference.call)
(jsx_expression (identifier) @reference.value)
(jsx_expression (member_expression object: (_) @receiver property: (_) @name) @reference.value)
