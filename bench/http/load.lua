-- wrk -s load.lua <url> -- <method> <body> <path>...
-- Requests the paths in turn and prints the result as one line of JSON after the output of wrk.

local requests, turn = {}, 0

function init(args)
  local headers = {}
  for name, value in pairs(wrk.headers) do headers[name] = value end
  if args[2] ~= "" then headers["Content-Type"] = headers["Content-Type"] or "application/json" end
  for i = 3, #args do
    requests[i - 2] = wrk.format(args[1], args[i], headers, args[2] ~= "" and args[2] or nil)
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

function done(summary)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"micros":%d,"failures":{"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d}}',
    summary.requests, summary.duration,
    errors.connect, errors.read, errors.write, errors.timeout, errors.status
  ))
end
