/**
 * Counts the hits of one policy, KEYS in order, by the server's clock in microseconds. It returns two
 * numbers for each: the remaining limit (rejected: -1 minus it), and the microseconds until the whole
 * quota is available (rejected: until the hit would be allowed). The algorithms are those of the memory store.
 *
 * ARGV: algorithm, max, window in microseconds, burst, then the cost of each hit unless all cost 1.
 */
export const SCRIPT = `
local algorithm, max, window, burst = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local clock = time[1] * 1000000 + time[2]
local SLOTS = 16
local slot = window / (SLOTS - 1)

-- A state from the future is that of a clock that was set back: it would block the key until then.
local function read(key)
  local saved = redis.call('GET', key)
  local state = saved and cmsgpack.unpack(saved)
  if state and state[1] - clock <= 2 * window then return state end
end

local function save(key, ttl, state)
  redis.call('SET', key, cmsgpack.pack(state), 'PX', math.ceil(ttl / 1000))
end

local function fixed(key, cost)
  local state = read(key)
  if not state or clock >= state[1] then state = { clock + window, 0 } end
  local left = max - state[2]
  local reset = state[1] - clock
  if cost > left then return -1 - left, reset end
  if cost > 0 then
    state[2] = state[2] + cost
    save(key, reset, state)
  end
  return left - cost, reset
end

local function bucket(key, cost)
  local state = read(key) or { clock, 0 }
  local now = math.max(clock, state[1])
  local missing = math.max(0, state[2] - (now - state[1]) * max / window)
  local lacking = missing + cost - burst
  if lacking > 1e-6 then
    return -1 - math.max(0, math.floor(burst - missing + 1e-6)), lacking * window / max
  end
  local after = math.min(missing + cost, burst)
  local reset = after * window / max
  if cost > 0 then save(key, reset + 1000, { now, after }) end
  return math.max(0, math.floor(burst - after + 1e-6)), reset
end

local function sliding(key, cost)
  local state = read(key)
  local last = state and state[1] or clock - window
  local now = math.max(clock, last)
  local age = SLOTS
  if now - last < window then age = math.floor(now / slot) - math.floor(last / slot) end
  -- What is saved is the time, and the counts from the newest slot to the oldest that has one.
  local known = state and #state - 1 or 0
  local used = 0
  for at = 1, math.min(known, SLOTS - age) do used = used + state[at + 1] end

  local left = max - used
  if cost > left then
    if age >= SLOTS then return -1 - left, window end
    local gone = 0
    for back = math.min(known, SLOTS - age) - 1, 1, -1 do
      gone = gone + state[back + 2]
      if gone >= cost - left then
        return -1 - left, (math.floor(last / slot) - back + 1) * slot + window - now
      end
    end
    return -1 - left, last + window - now
  end

  if cost == 0 then return left, math.max(0, last + window - now) end
  local next = { now }
  if used > 0 then
    for at = 1, math.min(known + age, SLOTS) do next[at + 1] = at > age and state[at - age + 1] or 0 end
  end
  next[2] = (next[2] or 0) + cost
  save(key, window, next)
  return left - cost, window
end

local hit = algorithm == 'fixed-window' and fixed or algorithm == 'token-bucket' and bucket or sliding
local replies = {}
for at = 1, #KEYS do
  local remaining, reset = hit(KEYS[at], tonumber(ARGV[at + 4] or 1))
  replies[at * 2 - 1] = remaining
  replies[at * 2] = math.ceil(reset)
end
return replies
`;
