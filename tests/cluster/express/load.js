import http from 'k6/http';

/** 100 requests per second during a rolling update, half of them POST, which no client repeats. */
export const options = {
  scenarios: {
    stream: { executor: 'constant-arrival-rate', rate: 50, duration: '60s', preAllocatedVUs: 100 },
  },
  thresholds: { http_req_failed: ['rate==0'], http_reqs: ['count>=5000'] },
};

export default function stream() {
  http.get(`${__ENV.BASE}/api/shop/items`);
  http.post(`${__ENV.BASE}/api/shop/orders`);
}
