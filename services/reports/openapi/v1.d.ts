// Written by "make documents" from v1.json.
export interface paths {
    "/api/v1/reports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List reports
         * @deprecated
         */
        get: operations["listReportsV1"];
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
        ReportV1: {
            /** @example users-by-day */
            id: string;
            /** @example Users by day */
            title: string;
            description: string;
        };
    };
    responses: {
        /** @description A proxy received no valid response from the service */
        DeprecatedBadGateway: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                Deprecation: components["headers"]["Deprecation"];
                Link: components["headers"]["Link"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "BAD_GATEWAY";
                };
            };
        };
        /** @description A proxy received no response from the service in time */
        DeprecatedGatewayTimeout: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                Deprecation: components["headers"]["Deprecation"];
                Link: components["headers"]["Link"];
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
                Link: components["headers"]["Link"];
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
                Link: components["headers"]["Link"];
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
                Link: components["headers"]["Link"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "SERVICE_UNAVAILABLE";
                };
            };
        };
        /** @description Too many requests. Limits: `reports-invalid-tokens` (30 per 60 s); `reports-v1` (100 per 60 s) */
        DeprecatedTooManyRequests: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                Deprecation: components["headers"]["Deprecation"];
                Link: components["headers"]["Link"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "RATE_LIMITED";
                };
            };
        };
        /** @description Credentials are missing or wrong */
        DeprecatedUnauthorized: {
            headers: {
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                Deprecation: components["headers"]["Deprecation"];
                Link: components["headers"]["Link"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "UNAUTHORIZED";
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
        Link: string;
        /** @description Requests allowed in a window, by the strictest limit */
        "RateLimit-Limit": number;
        /** @description Requests left in this window, by the strictest limit */
        "RateLimit-Remaining": number;
        /** @description Seconds until the window of the strictest limit ends */
        "RateLimit-Reset": number;
        /** @description Seconds to wait before the next request */
        "Retry-After": number;
        /** @description How to authenticate */
        "WWW-Authenticate": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listReportsV1: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    Deprecation: components["headers"]["Deprecation"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        reports: components["schemas"]["ReportV1"][];
                    };
                };
            };
            401: components["responses"]["DeprecatedUnauthorized"];
            405: components["responses"]["DeprecatedMethodNotAllowed"];
            429: components["responses"]["DeprecatedTooManyRequests"];
            500: components["responses"]["DeprecatedInternalServerError"];
            502: components["responses"]["DeprecatedBadGateway"];
            503: components["responses"]["DeprecatedServiceUnavailable"];
            504: components["responses"]["DeprecatedGatewayTimeout"];
        };
    };
}
