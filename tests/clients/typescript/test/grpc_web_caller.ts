// The client of the gRPC project for browsers, npm's `grpc-web`, with protobuf-es for the messages.

import { type DescMethod, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { GrpcWebClientBase, MethodDescriptor, type RpcError } from "grpc-web";
import { ErrorInfoSchema, StatusSchema } from "../gen/google/rpc/error_details_pb.js";
import { answered, type Caller, codeName, type Outcome } from "./outcome.js";
import { pathOf } from "./methods.js";

// The two forms that it sends: base64, in which a stream can be read while it goes on, and binary.
export type Format = "text" | "binary";

export function grpcWebCaller(url: string, format: Format): Caller {
  const client = new GrpcWebClientBase({ format, suppressCorsPreflight: false });
  return (method, request, token) => {
    const metadata = token === "" ? {} : { authorization: `Bearer ${token}` };
    const path = `${url}/${pathOf(method)}`;
    const descriptor = descriptorOf(method);
    return new Promise((done) => {
      if (method.methodKind === "unary") {
        client.rpcCall(path, request, metadata, descriptor, (error, answer) =>
          done(error ? refused(error) : answered(method, answer)),
        );
        return;
      }
      const stream = client.serverStreaming(path, request, metadata, descriptor);
      stream.on("data", (message) => {
        done(answered(method, message));
        stream.cancel();
      });
      stream.on("error", (error) => done(refused(error)));
      stream.on("end", () => done(answered(method, undefined)));
    });
  };
}

// Messages are protobuf-es's: only how they are written and read is told.
function descriptorOf(method: DescMethod): MethodDescriptor<Message, Message> {
  const kind = method.methodKind === "unary" ? "unary" : "server_streaming";
  class Opaque {}
  const write = (message: Message) => toBinary(method.input, message);
  const read = (bytes: Uint8Array) => fromBinary(method.output, bytes);
  return new MethodDescriptor(`/${pathOf(method)}`, kind, Opaque as never, Opaque as never, write, read);
}

// The reason is in the details of the status, which this client leaves to its user.
function refused({ code, metadata }: RpcError): Outcome {
  const bytes = base64Decode(metadata["grpc-status-details-bin"] ?? "");
  const infos = fromBinary(StatusSchema, bytes).details.filter(({ typeUrl }) =>
    typeUrl.endsWith("/google.rpc.ErrorInfo"),
  );
  const reason = infos.map(({ value }) => fromBinary(ErrorInfoSchema, value).reason).join();
  return { code: codeName(code as number), reason, answer: "" };
}
