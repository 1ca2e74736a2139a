// Written by "make documents" from v2.json.
export interface paths {
    "/api/v2/reports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List reports */
        get: operations["listReports"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/reports/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a report
         * @description `Accept` selects JSON, CSV or an HTML page with charts. If a service is unavailable, the report is partial and marked as such: in `meta` in JSON, in the last record of CSV, at the top of the page.
         */
        get: operations["getReport"];
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
        Report: {
            data: {
                /** @example users-by-day */
                id: string;
                /** @example Users by day */
                title: string;
                description: string;
                /** Format: date-time */
                generatedAt: string;
                columns: {
                    /** @description The name of the cells in each row */
                    name: string;
                    title: string;
                    /**
                     * @description `money` is in cents of the `currency` in the same row
                     * @enum {string}
                     */
                    kind: "text" | "date" | "count" | "money" | "currency";
                }[];
                rows: {
                    [key: string]: string | number;
                }[];
            };
            meta: {
                /** @description Whether figures are missing */
                partial: boolean;
                /** @description The services whose figures are missing */
                missing: ("users" | "catalog")[];
            };
        };
        ReportSummary: {
            /** @example users-by-day */
            id: string;
            /** @example Users by day */
            title: string;
            description: string;
            /** @description The path of the report, for each media type that `Accept` can select */
            links: {
                href: string;
                type: string;
            }[];
        };
    };
    responses: {
        /** @description A proxy received no valid response from the service */
        BadGateway: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
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
        BadRequest: {
            headers: {
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
        GatewayTimeout: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
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
        InternalServerError: {
            headers: {
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
        MethodNotAllowed: {
            headers: {
                Allow: components["headers"]["Allow"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "METHOD_NOT_ALLOWED";
                };
            };
        };
        /** @description `Accept` excludes the media types of the response */
        NotAcceptable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "NOT_ACCEPTABLE";
                };
            };
        };
        /** @description Not found */
        NotFound: {
            headers: {
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
        ServiceUnavailable: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"] & {
                    /** @enum {string} */
                    code?: "SERVICE_UNAVAILABLE";
                };
            };
        };
        /** @description Too many requests. Limits: `reports-invalid-tokens` (30 per 60 s); `reports-v2-free` (100 per 60 s) or `reports-v2-pro` (1000 per 60 s) */
        TooManyRequests: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
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
        Unauthorized: {
            headers: {
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
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
    listReports: {
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
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ReportSummary"][];
                        meta: {
                            total: number;
                        };
                    };
                };
            };
            401: components["responses"]["Unauthorized"];
            405: components["responses"]["MethodNotAllowed"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    getReport: {
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
                    "RateLimit-Limit": components["headers"]["RateLimit-Limit"];
                    "RateLimit-Remaining": components["headers"]["RateLimit-Remaining"];
                    "RateLimit-Reset": components["headers"]["RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Report"];
                    "text/csv": string;
                    "text/html": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalServerError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
}
