// Reads an OpenAPI document on stdin, and exits with 1 and what is wrong if it is not valid.
import { Validator } from "@seriousme/openapi-schema-validator";
import { text } from "node:stream/consumers";

const { valid, errors } = await new Validator().validate(JSON.parse(await text(process.stdin)));
if (!valid) {
	console.error(JSON.stringify(errors, null, 2));
	process.exit(1);
}
