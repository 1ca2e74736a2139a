-- wrk -s load.lua <url>
-- Sends the messages of its standard input in turn; each follows a line with its length. Prints the
-- result as one line of JSON after the output of wrk.

local messages, turn = {}, 0

function init()
  for line in function() return io.read("*l") end do
    messages[#messages + 1] = io.read(tonumber(line))
  end
end

function request()
  turn = turn % #messages + 1
  return messages[turn]
end

function done(summary)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"failures":{"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d}}',
    summary.requests,
    errors.connect, errors.read, errors.write, errors.timeout, errors.status
  ))
end
