// SPDX-License-Identifier: GPL-3.0-or-later
// oracle.cpp - what libonnx says of ONNX models, for tests (onnx.test); prints as shapes.c does.
//   onnx_oracle FILE...   "FILE NAME EXTENT,EXTENT..." for every tensor whose shape it infers
//   onnx_oracle -list     "NAME" for every operator of ai.onnx
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <fstream>
#include <iostream>
#include <set>

using namespace ONNX_NAMESPACE;

static void list_operators()
{
    std::set<std::string> names;
    for (const auto &schema : OpSchemaRegistry::get_all_schemas_with_history())
        if (schema.domain().empty())
            names.insert(schema.Name());
    for (const auto &name : names)
        std::cout << name << '\n';
}

static void print(const std::string &file, const ValueInfoProto &value)
{
    if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape())
        return;
    std::string text;
    for (const auto &dim : value.type().tensor_type().shape().dim()) {
        if (!dim.has_dim_value())
            return;
        text += (text.empty() ? "" : ",") + std::to_string(dim.dim_value());
    }
    std::cout << file << ' ' << value.name() << ' ' << text << '\n';
}

static int infer(const char *file)
{
    ModelProto model;
    std::ifstream in(file, std::ios::binary);
    if (!model.ParseFromIstream(&in)) {
        std::cerr << file << ": no model\n";
        return 1;
    }
    try {
        shape_inference::InferShapes(model, OpSchemaRegistry::Instance(), ShapeInferenceOptions(true, 1, true));
    } catch (const std::exception &e) {
        std::cout << file << " - " << std::string(e.what()).substr(0, 200) << '\n';
        return 0;
    }
    for (const auto &value : model.graph().value_info())
        print(file, value);
    for (const auto &value : model.graph().output())
        print(file, value);
    return 0;
}

int main(int n, char **words)
{
    int status = 0;
    if (n == 2 && std::string(words[1]) == "-list")
        list_operators();
    else
        for (int i = 1; i < n; i++)
            status |= infer(words[i]);
    return status;
}
