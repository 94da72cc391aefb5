-- wrk: propose, then tell whether it was right; every thread draws its own examples.
local ids, count = {}, 0
local text = {["Content-Type"] = "application/json"}

function init()
  math.randomseed(7)
end

function request()
  local id = table.remove(ids)
  if id then
    local body = string.format('{"id":"%s","right":%s}', id, count % 3 == 0 and "true" or "false")
    return wrk.format("POST", "/v1/models/m/feedback", text, body)
  end
  local features = {}
  for j = 1, 16 do features[j] = math.random(0, 15) end
  return wrk.format("POST", "/v1/models/m/propose", text, '{"features":[' .. table.concat(features, ",") .. "]}")
end

function response(status, headers, body)
  count = count + 1
  if status ~= 200 then io.stderr:write(status, " ", body, "\n") end
  local found = body:match('"id":"([^"]+)","class"')
  if found then ids[#ids + 1] = found end
end

function done(summary, latency)
  io.write(string.format('{"requests":%d,"seconds":%.3f,"p50_ms":%.3f,"p99_ms":%.3f,"bad":%d,"errors":%d}\n', summary.requests,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
