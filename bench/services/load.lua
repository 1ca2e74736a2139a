-- wrk -s load.lua <url> -- <plan.lua> <first number>
-- Sends the requests of the plan in turn, with a new number in each where the plan has a place for
-- one; deletes what was created where the plan says so. Prints the result as one line of JSON.

local plan, texts, turn, number, created = nil, {}, 0, 0, {}

local function formatted(request)
  local headers = { Host = wrk.headers.Host }
  for name, value in pairs(request.headers) do headers[name] = value end
  return wrk.format(request.method, request.path, headers, request.body)
end

function init(args)
  plan = dofile(args[1])
  number = tonumber(args[2])
  for at, request in ipairs(plan.requests) do texts[at] = formatted(request) end
  if plan.thenDeletes then
    response = function(status, _, body)
      if status == 201 then created[#created + 1] = body:match('"id":"([^"]+)"') end
    end
  end
end

function request()
  local id = table.remove(created)
  if id then return formatted({ method = "DELETE", path = plan.thenDeletes .. id, headers = {} }) end
  turn = turn % #texts + 1
  if not plan.place then return texts[turn] end
  number = number + 1
  return (texts[turn]:gsub(plan.place, string.format("%0" .. #plan.place .. "d", number)))
end

function done(summary)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"micros":%d,"failures":{"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d}}',
    summary.requests, summary.duration,
    errors.connect, errors.read, errors.write, errors.timeout, errors.status
  ))
end
