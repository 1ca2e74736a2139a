// Written by "make documents" from v2.json.
export interface paths {
    "/api/v2/catalog": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List items
         * @description Sorted by `sort`. `meta.nextCursor` and `Link` lead to the next page, if there is one. With a price range, a page may be shorter than `limit` although more pages follow.
         */
        get: operations["listItems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/catalog/facets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count items by category and brand
         * @description The largest counts first. For a search or a price range, at most 5,000 items are counted; otherwise the 10,000 most frequent combinations of a category and a brand. `meta` reports how many.
         */
        get: operations["getFacets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/catalog/figures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count items and summarize their prices
         * @description In total and by category, the category with the most items first; at most 1,000 entries.
         */
        get: operations["getCatalogFigures"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/catalog/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read an item */
        get: operations["getItem"];
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
        CatalogFigures: {
            total: number;
            byCategory: {
                category: string;
                currency: string;
                items: number;
                minPriceCents: number;
                /** @description The lower of the two in the middle */
                medianPriceCents: number;
                maxPriceCents: number;
            }[];
        };
        Count: {
            value: string;
            count: number;
        };
        Facets: {
            category: components["schemas"]["Count"][];
            brand: components["schemas"]["Count"][];
        };
        /**
         * @example {
         *       "id": 7,
         *       "name": "Brisk Kettle, 1.7 L",
         *       "category": "Kitchen",
         *       "brand": "Brisk",
         *       "priceCents": 4990,
         *       "currency": "EUR",
         *       "description": "Boils water.",
         *       "tags": [
         *         "tea",
         *         "appliance"
         *       ]
         *     }
         */
        Item: {
            id: number;
            name: string;
            category: string;
            brand: string;
            /** @description In hundredths of `currency` */
            priceCents: number;
            /** @description ISO 4217 */
            currency: string;
            description: string;
            tags: string[];
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
                    code?: "BAD_REQUEST" | "VALIDATION_FAILED";
                };
            };
        };
        /** @description The request cannot be read, or does not fit its schema */
        BadRequest2: {
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
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description Allowed methods */
        Allow: string;
        /** @description How long the response may be reused */
        "Cache-Control": string;
        /** @description Version of the catalog; it changes with every import */
        ETag: string;
        /** @description The next page, with the relation `next` */
        Link: string;
        /** @description Seconds to wait before the next request */
        "Retry-After": number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listItems: {
        parameters: {
            query?: {
                /** @description Words that an item must contain, all of them, in its name, brand, category, description or tags. Case, accents and punctuation are ignored; there are no operators. */
                q?: string;
                /** @description Only items of exactly this category */
                category?: string;
                /** @description Only items of exactly this brand */
                brand?: string;
                /** @description Only items of at least this price, in hundredths; `minPrice=` without a value is invalid */
                minPrice?: number;
                /** @description Only items of at most this price, in hundredths; `maxPrice=` without a value is invalid */
                maxPrice?: number;
                /** @description Sort order; `-` for descending */
                sort?: "id" | "name" | "price" | "-id" | "-name" | "-price";
                /** @description Maximum number of entries on the page */
                limit?: number;
                /** @description Where the page begins: `meta.nextCursor` of the page before; any other value is a 400 */
                cursor?: string;
            };
            header?: {
                /** @description Entity tags: 304 if the catalog has not changed */
                "if-none-match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Item"][];
                        meta: {
                            limit: number;
                            /** @description Missing on the last page */
                            nextCursor?: string;
                        };
                    };
                };
            };
            /** @description The response that the client has is current */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            405: components["responses"]["MethodNotAllowed"];
            406: components["responses"]["NotAcceptable"];
            500: components["responses"]["InternalServerError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    getFacets: {
        parameters: {
            query?: {
                /** @description Words that an item must contain, all of them, in its name, brand, category, description or tags. Case, accents and punctuation are ignored; there are no operators. */
                q?: string;
                /** @description Only items of exactly this category */
                category?: string;
                /** @description Only items of exactly this brand */
                brand?: string;
                /** @description Only items of at least this price, in hundredths; `minPrice=` without a value is invalid */
                minPrice?: number;
                /** @description Only items of at most this price, in hundredths; `maxPrice=` without a value is invalid */
                maxPrice?: number;
            };
            header?: {
                /** @description Entity tags: 304 if the catalog has not changed */
                "if-none-match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Facets"];
                        meta: {
                            /** @description Number of items that were counted */
                            counted: number;
                            /** @description Whether every matching item was counted; if not, there are more */
                            isExact: boolean;
                        };
                    };
                };
            };
            /** @description The response that the client has is current */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            405: components["responses"]["MethodNotAllowed"];
            406: components["responses"]["NotAcceptable"];
            500: components["responses"]["InternalServerError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    getCatalogFigures: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags: 304 if the catalog has not changed */
                "if-none-match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["CatalogFigures"];
                        meta: {
                            /** @description Whether these are all categories; if not, the ones with the most items */
                            isExact: boolean;
                        };
                    };
                };
            };
            /** @description The response that the client has is current */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest2"];
            405: components["responses"]["MethodNotAllowed"];
            406: components["responses"]["NotAcceptable"];
            500: components["responses"]["InternalServerError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
    getItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags: 304 if the catalog has not changed */
                "if-none-match"?: string;
            };
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Item"];
                    };
                };
            };
            /** @description The response that the client has is current */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            406: components["responses"]["NotAcceptable"];
            500: components["responses"]["InternalServerError"];
            502: components["responses"]["BadGateway"];
            503: components["responses"]["ServiceUnavailable"];
            504: components["responses"]["GatewayTimeout"];
        };
    };
}
