"""The header of a library: the declaration of its function in C, and the types of the interface."""

from __future__ import annotations

import json

from .interface import INTERFACE, Interface, library_symbol
from .signature import C_TYPES, TensorParameter

__all__ = ["FIRST_LINE", "header_text"]

FIRST_LINE = "/* Written by passline-compile"
"""How each header begins."""

TYPES = f"""\
#ifndef PASSLINE_INTERFACE
#define PASSLINE_INTERFACE {INTERFACE}

/* Why a function returned PASSLINE_FAILED or PASSLINE_BAD_ARGUMENT. The strings are constants of
   the library. */
typedef struct passline_failure {{
  const char *message;
  const char *location; /* file:line:column in the model, or NULL */
  const char *call;     /* the location of the innermost call around it, if it differs, or NULL */
}} passline_failure;

/* A tensor with sizes that are known at run time. */
typedef struct passline_array {{
  void *data;     /* the elements in row-major order, without gaps */
  int64_t *shape; /* the sizes, one for each dimension, in memory of the caller */
  void *memory;   /* of a result that the library allocates: what to pass to free() in the end,
                     NULL after a failure */
}} passline_array;

enum {{
  PASSLINE_OK = 0,
  PASSLINE_FAILED = 1,      /* an assertion of the model failed: an index is out of bounds */
  PASSLINE_BAD_ARGUMENT = 2 /* a size is not one that the function takes */
}};

/* What follows describes a library, for programs that learn at run time what it has. */

enum {{
  PASSLINE_NUMBER = 1,    /* a scalar, which the function in C takes by value */
  PASSLINE_ALLOCATED = 2, /* a result that the library allocates */
  PASSLINE_CHANGED = 4    /* a parameter that the function writes to */
}};

typedef struct passline_tensor {{
  const char *name;        /* the name in the model, in UTF-8 */
  const char *type;        /* f16, bf16, f32, f64, i1, i8 .. i64, ui8 .. ui64, index */
  int64_t rank;
  const int64_t *shape;    /* -1 for sizes that are not known */
  const char *const *dimensions; /* the names of the dimensions, NULL for those without one */
  int64_t flags;           /* PASSLINE_NUMBER | ... */
}} passline_tensor;

typedef struct passline_function {{
  const char *name;   /* the name in the model */
  const char *symbol; /* the name in C */
  int64_t input_count;
  const passline_tensor *inputs;
  int64_t result_count;
  const passline_tensor *results;
  /* The function with all arguments in arrays. A shape is used only for tensors with sizes that
     are not known, and for results that the library allocates. */
  int (*call)(const passline_array *inputs, passline_array *results, passline_failure *failure);
}} passline_function;

typedef struct passline_library {{
  int64_t interface; /* PASSLINE_INTERFACE of the library */
  const char *name;
  const char *compiler;
  const char *triple;   /* the machine, */
  const char *cpu;      /* the processor, */
  const char *features; /* and its features, as LLVM calls them: "+avx2,+fma" */
  int64_t function_count;
  const passline_function *functions;
}} passline_library;

#endif
"""

RULES = """\
/* Arguments are the inputs in order, then memory for the results, then memory for the reason of a
   failure (or NULL). Elements are in row-major order, without gaps, and aligned as C aligns them;
   f16 and bf16 are their bits, booleans are bytes that are 0 or 1. No argument may overlap a
   result. A function returns PASSLINE_OK (0), or why it could not compute the results, of which
   the elements are then undefined. It has no state: many threads may call it at once. */
"""


def header_text(interface: Interface) -> str:
    """Return the header of a library."""
    name, symbol, signature = interface.name, interface.symbol, interface.signature
    guard = f"PASSLINE_LIBRARY_{name}_H"
    sizes = [size_line(symbol, tensor) for tensor in (*signature.inputs, *signature.results)]
    target = interface.target
    return "\n".join(
        [
            f"{FIRST_LINE}: {comment(interface.compiler)}, for {comment(target.triple)},",
            f"   {comment(target.cpu)}. */",
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            "#include <stdint.h>",
            "",
            "#ifdef __cplusplus",
            'extern "C" {',
            "#endif",
            "",
            TYPES,
            RULES,
            *(["", *sizes] if sizes else []),
            "",
            prototype(interface),
            "",
            f"extern const passline_library {library_symbol(name)};",
            "",
            "#ifdef __cplusplus",
            "}",
            "#endif",
            "",
            "#endif",
            "",
        ]
    )


def size_line(symbol: str, tensor: TensorParameter) -> str:
    """Return the `#define` of the number of elements of a tensor, with a comment on its shape; of a
    scalar, and of a tensor with sizes that are not known, the comment alone."""
    pairs = zip(tensor.shape, tensor.dimensions, strict=True)
    texts = [str(size) if size >= 0 else comment(name) if name else "?" for size, name in pairs]
    about = f"{comment(tensor.name)}: {' x '.join([*texts, tensor.type])}"
    if not tensor.is_static or tensor.is_number:
        return f"/* {about} */"
    return f"#define {symbol}_{tensor.identifier}_size {tensor.elements} /* {about} */"


def prototype(interface: Interface) -> str:
    """Return the declaration of the function for callers in C."""
    signature = interface.signature
    parameters = [
        *(parameter(tensor, is_result=False) for tensor in signature.inputs),
        *(parameter(tensor, is_result=True) for tensor in signature.results),
        "passline_failure *failure",
    ]
    return f"int {interface.symbol}(\n    " + ",\n    ".join(parameters) + "\n);"


def parameter(tensor: TensorParameter, *, is_result: bool) -> str:
    """Return the declaration of a parameter."""
    const = "" if is_result or tensor.is_changed or tensor.is_number else "const "
    if tensor.is_array:
        return f"{const}passline_array *{tensor.identifier}"
    return f"{const}{C_TYPES[tensor.type]} {'' if tensor.is_number else '*'}{tensor.identifier}"


def comment(text: str) -> str:
    """Return text for a comment: one ASCII line without `/*`, `*/` and the trigraph `??/`."""
    shown = json.dumps(text)[1:-1]
    return shown.replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/")
