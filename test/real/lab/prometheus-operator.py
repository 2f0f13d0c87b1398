"""Validates files of YAML documents against the models of the Prometheus Operator, which are generated from its custom
resource definitions. Strictly: a field that a model does not have is lost in it, and so is an error. Prints one line
for each file: "passed", or the error.
"""

import sys

import yaml
from cloudcoil.models.prometheus_operator import v1


def problem(document):
    """What is wrong with an object, or None."""
    try:
        model = getattr(v1, document["kind"]).model_validate(document)
    except ValueError as error:
        return " ".join(str(error).split())
    known = model.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return None if known == document else f"{document['kind']}: a field is not known"


for file in sys.argv[1:]:
    with open(file, encoding="utf-8") as text:
        problems = [problem(document) for document in yaml.safe_load_all(text)]
    print(next((found for found in problems if found is not None), "passed"))
