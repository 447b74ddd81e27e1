; JavaScript, without the part that it shares with TypeScript.

; --- CommonJS and prototypes

; `Foo.prototype.bar = function …`, `Foo.bar = function …`
((assignment_expression
  left: (member_expression object: (member_expression object: (identifier) @owner property: (_) @_prototype) property: (_) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
  (#eq? @_prototype "prototype"))
((assignment_expression
  left: (member_expression object: (identifier) @owner property: (_) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
  (#not-any-of? @owner "exports" "module" "window" "global" "globalThis"))
; `exports.foo = function …`, `module.exports.foo = function …`, `module.exports = function …`
((assignment_expression
  left: (member_expression object: [(identifier) (member_expression)] @_exports property: (_) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.function
  (#any-of? @_exports "exports" "module.exports") (#set! exported "true"))
((assignment_expression
  left: (member_expression object: [(identifier) (member_expression)] @_exports property: (_) @name)
  right: (class body: (_) @body)) @definition.class
  (#any-of? @_exports "exports" "module.exports") (#set! exported "true"))
((assignment_expression
  left: (member_expression) @_exports
  right: [(arrow_function body: (_) @body) (function_expression !name body: (_) @body)]) @definition.function
  (#eq? @_exports "module.exports") (#set! name "default") (#set! exported "true"))
((assignment_expression
  left: (member_expression) @_exports
  right: [(function_expression name: (_) @name body: (_) @body) (generator_function name: (_) @name body: (_) @body)]) @definition.function
  (#eq? @_exports "module.exports") (#set! exported "true"))
((assignment_expression left: (member_expression) @_exports right: (class name: (_) @name body: (_) @body)) @definition.class
  (#eq? @_exports "module.exports") (#set! exported "true"))
((assignment_expression left: (member_expression) @_exports
    right: (object (method_definition name: (_) @name body: (_) @body) @definition.function))
  (#eq? @_exports "module.exports") (#set! exported "true"))
((assignment_expression left: (member_expression) @_exports
    right: (object (pair key: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.function))
  (#eq? @_exports "module.exports") (#set! exported "true"))
(assignment_expression right: (object (pair key: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method))
((assignment_expression left: (member_expression) @_exports right: (object (shorthand_property_identifier) @export.name))
  (#eq? @_exports "module.exports"))
((assignment_expression left: (member_expression) @_exports right: (object (pair key: (_) @export.alias value: (identifier) @export.name)))
  (#eq? @_exports "module.exports"))
((assignment_expression left: (member_expression) @_exports
    right: [(identifier) @export.name (function_expression name: (_) @export.name) (class name: (_) @export.name)])
  (#eq? @_exports "module.exports") (#set! export_as "default"))
((assignment_expression
  left: (member_expression object: [(identifier) (member_expression)] @_exports property: (_) @export.alias) right: (identifier) @export.name)
  (#any-of? @_exports "exports" "module.exports"))

; `module.exports = require("./lib")` re-exports everything.
((assignment_expression left: (member_expression) @_exports @import.wildcard @reexport
    right: (call_expression function: (identifier) @_require arguments: (arguments . (string)))) @import
  (#eq? @_exports "module.exports") (#eq? @_require "require"))

; --- Classes

(class_declaration name: (identifier) @name body: (_) @body) @definition.class
(method_definition name: (_) @name body: (_) @body) @definition.method
(field_definition property: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(field_definition property: (_) @name) @definition.field

(class_heritage (identifier) @reference.extend)
(class_heritage (member_expression object: (_) @receiver property: (_) @name) @reference.extend)
(class_heritage (call_expression arguments: (arguments (identifier) @reference.extend)))

(field_definition property: (_) @binding.name value: (new_expression constructor: (_) @binding.type)) @binding.constructor
(formal_parameters (identifier) @binding.opaque)
