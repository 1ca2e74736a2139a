// Written by "make documents" from v1.json.
export interface paths {
    "/api/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List users in version 1
         * @deprecated
         * @description All users, or one page if `page` or `limit` is present. A long list is streamed; `total` is the number of users in the response.
         */
        get: operations["listUsersV1"];
        put?: never;
        /**
         * Create a user in version 1
         * @deprecated
         */
        post: operations["createUserV1"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a user in version 1
         * @deprecated
         * @description As an HTML fragment if `Accept` contains `text/html`.
         */
        get: operations["getUserV1"];
        /**
         * Change a user in version 1
         * @deprecated
         * @description Omitted fields keep their value.
         */
        put: operations["changeUserV1"];
        post?: never;
        /**
         * Delete a user in version 1
         * @deprecated
         */
        delete: operations["deleteUserV1"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @example {
         *       "name": "Ada Lovelace",
         *       "email": "ada@example.com"
         *     }
         */
        NewUserV1: {
            /** @example Ada Lovelace */
            name: string;
            /** @example ada@example.com */
            email: string;
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
        UserChangesV1: {
            /** @example Ada Lovelace */
            name?: string;
            /** @example ada@example.com */
            email?: string;
        };
        UserV1: {
            /**
             * @description A random UUID
             * @example 0c8f6d5a-9d0c-4c5b-8d6e-3b3f0a6f3b1e
             */
            id: string;
            /** @example Ada Lovelace */
            name: string;
            /** @example ada@example.com */
            email: string;
            /**
             * Format: date-time
             * @example 2026-11-21T10:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description The time of the latest change
             * @example 2026-11-21T10:00:00.000Z
             */
            updatedAt: string;
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
        /** @description The request cannot be read, or does not fit its schema */
        DeprecatedBadRequest2: {
            headers: {
                Deprecation: components["headers"]["Deprecation"];
                Link: components["headers"]["Link2"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "BAD_REQUEST" | "INVALID_JSON";
                };
            };
        };
        /** @description The body is too large */
        DeprecatedContentTooLarge: {
            headers: {
                Deprecation: components["headers"]["Deprecation"];
                Link: components["headers"]["Link2"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "PAYLOAD_TOO_LARGE";
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
        /** @description Not found */
        DeprecatedNotFound: {
            headers: {
                Deprecation: components["headers"]["Deprecation"];
                Link: components["headers"]["Link2"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "NOT_FOUND";
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
        /** @description The media type of the body is not accepted */
        DeprecatedUnsupportedMediaType: {
            headers: {
                Accept: components["headers"]["Accept"];
                Deprecation: components["headers"]["Deprecation"];
                Link: components["headers"]["Link2"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "UNSUPPORTED_MEDIA_TYPE";
                };
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description Accepted media types */
        Accept: string;
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
    listUsersV1: {
        parameters: {
            query?: {
                /** @description Number of the page, from 1; default 1 */
                page?: number | "";
                /** @description Users per page; 10 if only `page` is present */
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
                        data: components["schemas"]["UserV1"][];
                        /** @description The number of users in the response */
                        total: number;
                    } | {
                        data: components["schemas"]["UserV1"][];
                        meta: {
                            /** @description The total number of users */
                            total: number;
                            page: number;
                            limit: number;
                        };
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
    createUserV1: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewUserV1"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    Deprecation: components["headers"]["Deprecation"];
                    Link: components["headers"]["Link2"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["UserV1"];
                    };
                };
            };
            400: components["responses"]["DeprecatedBadRequest2"];
            405: components["responses"]["DeprecatedMethodNotAllowed"];
            413: components["responses"]["DeprecatedContentTooLarge"];
            415: components["responses"]["DeprecatedUnsupportedMediaType"];
            500: components["responses"]["DeprecatedInternalServerError"];
            502: components["responses"]["DeprecatedBadGateway"];
            503: components["responses"]["DeprecatedServiceUnavailable"];
            504: components["responses"]["DeprecatedGatewayTimeout"];
        };
    };
    getUserV1: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
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
                        data: components["schemas"]["UserV1"];
                    };
                    "text/html": string;
                };
            };
            400: components["responses"]["DeprecatedBadRequest"];
            404: components["responses"]["DeprecatedNotFound"];
            405: components["responses"]["DeprecatedMethodNotAllowed"];
            500: components["responses"]["DeprecatedInternalServerError"];
            502: components["responses"]["DeprecatedBadGateway"];
            503: components["responses"]["DeprecatedServiceUnavailable"];
            504: components["responses"]["DeprecatedGatewayTimeout"];
        };
    };
    changeUserV1: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UserChangesV1"];
            };
        };
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
                        data: components["schemas"]["UserV1"];
                    };
                };
            };
            400: components["responses"]["DeprecatedBadRequest2"];
            404: components["responses"]["DeprecatedNotFound"];
            405: components["responses"]["DeprecatedMethodNotAllowed"];
            413: components["responses"]["DeprecatedContentTooLarge"];
            415: components["responses"]["DeprecatedUnsupportedMediaType"];
            500: components["responses"]["DeprecatedInternalServerError"];
            502: components["responses"]["DeprecatedBadGateway"];
            503: components["responses"]["DeprecatedServiceUnavailable"];
            504: components["responses"]["DeprecatedGatewayTimeout"];
        };
    };
    deleteUserV1: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No Content */
            204: {
                headers: {
                    Deprecation: components["headers"]["Deprecation"];
                    Link: components["headers"]["Link2"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["DeprecatedBadRequest"];
            404: components["responses"]["DeprecatedNotFound"];
            405: components["responses"]["DeprecatedMethodNotAllowed"];
            500: components["responses"]["DeprecatedInternalServerError"];
            502: components["responses"]["DeprecatedBadGateway"];
            503: components["responses"]["DeprecatedServiceUnavailable"];
            504: components["responses"]["DeprecatedGatewayTimeout"];
        };
    };
}
