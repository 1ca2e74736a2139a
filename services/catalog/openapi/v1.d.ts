// Written by "make documents" from v1.json.
export interface paths {
    "/api/v1/catalog": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List items
         * @deprecated
         * @description Sorted by id.
         */
        get: operations["listItemsV1"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        ItemV1: {
            id: number;
            name: string;
        };
        /**
         * Problem
         * @description Why a request failed (RFC 9457)
         */
        Problem: {
            /**
             * Format: uri-reference
             * @description A URI that names the kind of problem; `about:blank` if the status explains it
             */
            type: string;
            /** @description The name of the status */
            title: string;
            status: number;
            /** @description What was wrong with this request */
            detail: string;
            /**
             * @description A stable identifier to compare
             * @example NOT_FOUND
             */
            code: string;
            /** @description The id of this request in the server's log */
            requestId?: string;
            /** @description Each part of the request that does not fit */
            errors?: {
                /** @enum {unknown} */
                in: "body" | "query" | "params" | "headers";
                /**
                 * @description Where in that part, as a JSON Pointer (RFC 6901)
                 * @example /age
                 */
                pointer: string;
                detail: string;
            }[];
        };
    };
    responses: {
        /** @description A proxy received no valid response from the service */
        DeprecatedBadGateway: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                Deprecation: components["headers"]["Deprecation"];
                Link: components["headers"]["Link2"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "BAD_GATEWAY";
                };
            };
        };
        /** @description The request cannot be read, or does not fit its schema */
        DeprecatedBadRequest: {
            headers: {
                Deprecation: components["headers"]["Deprecation"];
                Link: components["headers"]["Link2"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "BAD_REQUEST";
                };
            };
        };
        /** @description A proxy received no response from the service in time */
        DeprecatedGatewayTimeout: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                Deprecation: components["headers"]["Deprecation"];
                Link: components["headers"]["Link2"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "GATEWAY_TIMEOUT";
                };
            };
        };
        /** @description The server failed; its log has more under `requestId` */
        DeprecatedInternalServerError: {
            headers: {
                Deprecation: components["headers"]["Deprecation"];
                Link: components["headers"]["Link2"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "INTERNAL_ERROR";
                };
            };
        };
        /** @description The path does not allow this method */
        DeprecatedMethodNotAllowed: {
            headers: {
                Allow: components["headers"]["Allow"];
                Deprecation: components["headers"]["Deprecation"];
                Link: components["headers"]["Link2"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "METHOD_NOT_ALLOWED";
                };
            };
        };
        /** @description Temporarily unavailable */
        DeprecatedServiceUnavailable: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                Deprecation: components["headers"]["Deprecation"];
                Link: components["headers"]["Link2"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "SERVICE_UNAVAILABLE";
                };
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description Allowed methods */
        Allow: string;
        /** @description When this version became deprecated (RFC 9745): 2026-12-01 */
        Deprecation: string;
        /** @description The same path in the new version, with the relation `successor-version` */
        Link2: string;
        /** @description Seconds to wait before the next request */
        "Retry-After": number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listItemsV1: {
        parameters: {
            query?: {
                /** @description Number of the page, from 1; default 1 */
                page?: number | "";
                /** @description Items per page; default 20 */
                limit?: number | "";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    Deprecation: components["headers"]["Deprecation"];
                    Link: components["headers"]["Link2"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ItemV1"][];
                        page: number;
                        limit: number;
                        /** @description Number of all items */
                        total: number;
                        totalPages: number;
                        hasNextPage: boolean;
                    };
                };
            };
            400: components["responses"]["DeprecatedBadRequest"];
            405: components["responses"]["DeprecatedMethodNotAllowed"];
            500: components["responses"]["DeprecatedInternalServerError"];
            502: components["responses"]["DeprecatedBadGateway"];
            503: components["responses"]["DeprecatedServiceUnavailable"];
            504: components["responses"]["DeprecatedGatewayTimeout"];
        };
    };
}
