-- What is the same in the dissectors of all agents: `register` takes the description of an agent's messages.
--
-- A description has a name, a PAN and the messages by their tags. A message has a class, a key that is unique among
-- the agent's messages, and a shape. `kind` names a shape.

local DEEPEST = 4
local NUMBERS = {
  b = {"int8", 1}, B = {"uint8", 1}, h = {"int16", 2}, H = {"uint16", 2}, e = {"bytes", 2},
  i = {"int32", 4}, I = {"uint32", 4}, l = {"int32", 4}, L = {"uint32", 4},
  q = {"int64", 8}, Q = {"uint64", 8}, f = {"float", 4}, d = {"double", 8}, ["?"] = {"uint8", 1},
}

local function register(agent)
  local prefix = "roambus_" .. agent.key
  local proto = Proto(prefix, "roambus " .. agent.name)
  local all = {}
  local cut_short = ProtoExpert.new(prefix .. ".malformed", "The bytes are not a message of this agent",
    expert.group.MALFORMED, expert.severity.ERROR)
  proto.experts = {cut_short}

  local function declare(make, path, title, ...)
    local field = make(prefix .. "." .. path, title, ...)
    all[#all + 1] = field
    return field
  end

  local tag_field = declare(ProtoField.uint8, "tag", "Tag", base.HEX)
  local type_field = declare(ProtoField.string, "type", "Type")
  local raw_field = declare(ProtoField.bytes, "raw", "Bytes written by hand, of unknown shape")

  -- Each makes the fields of one kind of shape; those that hold others make theirs, too.
  local prepare = {}
  local function prepare_shape(shape, path, title)
    shape.title = title
    prepare[shape.kind](shape, path, title)
  end
  function prepare.number(shape, path, title)
    shape.field = declare(ProtoField[NUMBERS[shape.code][1]], path, title)
  end
  function prepare.enumerated(shape, path, title)
    local names = {}
    for place, name in ipairs(shape.names) do names[place - 1] = name end
    shape.field = declare(ProtoField.uint8, path, title, base.DEC, names)
    shape.count = #shape.names
  end
  function prepare.blob(shape, path, title) shape.field = declare(ProtoField.bytes, path, title) end
  function prepare.fixed(shape, path, title) shape.field = declare(ProtoField.bytes, path, title) end
  function prepare.text(shape, path, title) shape.field = declare(ProtoField.string, path, title) end
  function prepare.bittext(shape, path, title) shape.field = declare(ProtoField.string, path, title) end
  function prepare.padding(shape, path, title) shape.field = declare(ProtoField.uint16, path, title .. " (bytes)") end
  function prepare.opaque() end
  function prepare.inner(shape)
    if #shape.tags > 0 then
      shape.allowed = {}
      for _, tag in ipairs(shape.tags) do shape.allowed[tag] = true end
    end
  end
  function prepare.repeated(shape, path, title)
    shape.field = declare(ProtoField.none, path .. "_list", title)
    shape.number = declare(ProtoField.uint16, path .. "_count", title .. " (count)")
    prepare_shape(shape.item, path, title)
  end
  function prepare.fields(shape, path, title)
    shape.field = declare(ProtoField.none, path, title)
    for _, one in ipairs(shape.fields) do
      local own = one.name == "" and path or path .. "." .. one.name
      prepare_shape(one.shape, own, one.name == "" and "flags" or one.name)
    end
  end
  function prepare.flags(shape, path, title)
    for _, flag in ipairs(shape.flags) do
      flag.field = declare(ProtoField.bool, path .. ".has_" .. flag.name, flag.name, 8, nil, flag.mask)
      if flag.shape then
        prepare_shape(flag.shape, path .. "." .. flag.name, flag.name)
      else
        flag.field = declare(ProtoField.bool, path .. "." .. flag.name, flag.name, 8, nil, flag.mask)
      end
    end
  end
  function prepare.tagged(shape, path, title)
    for tag, case in pairs(shape.cases) do
      prepare_shape(case, path .. "." .. case.kind .. tag, title)
    end
  end

  -- Each adds one kind of shape to the tree, and returns where the bytes go on.
  local show = {}
  local function take(state, offset, count)
    if offset + count > state.length then error({short = true}) end
    return state.buffer(offset, count)
  end
  local function show_shape(shape, state, offset, tree)
    if state.is_opaque then return offset end
    return show[shape.kind](shape, state, offset, tree)
  end
  local function count_of(code, state, offset)
    local size = NUMBERS[code][2]
    return take(state, offset, size):uint(), offset + size
  end
  function show.number(shape, state, offset, tree)
    local size = NUMBERS[shape.code][2]
    tree:add(shape.field, take(state, offset, size))
    return offset + size
  end
  function show.enumerated(shape, state, offset, tree)
    local byte = take(state, offset, 1)
    tree:add(shape.field, byte)
    if byte:uint() >= shape.count then error({short = true}) end
    return offset + 1
  end
  function show.blob(shape, state, offset, tree)
    local count, start = count_of(shape.code, state, offset)
    tree:add(shape.field, count > 0 and take(state, start, count) or take(state, offset, 0))
    return start + count
  end
  function show.fixed(shape, state, offset, tree)
    tree:add(shape.field, take(state, offset, shape.size))
    return offset + shape.size
  end
  function show.text(shape, state, offset, tree)
    local count, start = count_of("B", state, offset)
    local bytes = take(state, offset, 1 + count)
    tree:add(shape.field, bytes, count > 0 and take(state, start, count):string(ENC_UTF_8) or "")
    return start + count
  end
  function show.bittext(shape, state, offset, tree)
    local count, start = count_of("B", state, offset)
    local bits, at = "", start
    while #bits < count do
      local width = math.min(8, count - #bits)
      local value = take(state, at, 1):uint()
      if value >= 2 ^ width then error({short = true}) end
      for place = width - 1, 0, -1 do
        bits = bits .. (math.floor(value / 2 ^ place) % 2 == 1 and "1" or "0")
      end
      at = at + 1
    end
    tree:add(shape.field, take(state, offset, at - offset), bits)
    return at
  end
  function show.padding(shape, state, offset, tree)
    local count, start = count_of("H", state, offset)
    take(state, start, count)
    tree:add(shape.field, take(state, offset, 2))
    return start + count
  end
  function show.opaque(_, state, offset, tree)
    if offset < state.length then tree:add(raw_field, take(state, offset, state.length - offset)) end
    state.is_opaque = true
    return state.length
  end
  function show.repeated(shape, state, offset, tree)
    local count, at = count_of(shape.code, state, offset)
    local list = tree:add(shape.field, take(state, offset, at - offset))
    list:append_text(": " .. count)
    list:add(shape.number, take(state, offset, at - offset), count)
    for _ = 1, count do at = show_shape(shape.item, state, at, list) end
    if not state.is_opaque then list:set_len(at - offset) end
    return at
  end
  function show.fields(shape, state, offset, tree)
    local own = tree:add(shape.field, take(state, offset, 0))
    local at = offset
    for _, one in ipairs(shape.fields) do at = show_shape(one.shape, state, at, own) end
    own:set_len(at - offset)
    return at
  end
  function show.flags(shape, state, offset, tree)
    local byte = take(state, offset, 1)
    for _, flag in ipairs(shape.flags) do tree:add(flag.field, byte) end
    local at = offset + 1
    for _, flag in ipairs(shape.flags) do
      if flag.shape and math.floor(byte:uint() / flag.mask) % 2 == 1 then
        at = show_shape(flag.shape, state, at, tree)
      end
    end
    return at
  end
  function show.tagged(shape, state, offset, tree)
    local case = shape.cases[take(state, offset, 1):uint()]
    if not case then error({short = true}) end
    return show_shape(case, state, offset + 1, tree)
  end
  function show.inner(shape, state, offset, tree)
    state.depth = state.depth + 1
    if state.depth > DEEPEST then error({short = true}) end
    local byte = take(state, offset, 1)
    local message = agent.messages[byte:uint()]
    if not message or (shape.allowed and not shape.allowed[byte:uint()]) then
      tree:add(tag_field, byte)
      error({short = true})
    end
    if not state.type and message.type then state.type = message.type end
    local own = tree:add(proto, take(state, offset, state.length - offset), message.class)
    own:add(tag_field, byte)
    local at = offset + 1
    for _, one in ipairs(message.shape.fields) do at = show_shape(one.shape, state, at, own) end
    own:set_len(at - offset)
    state.depth = state.depth - 1
    state.outermost = state.outermost or message.class
    return at
  end

  for _, message in pairs(agent.messages) do
    if message.shape.kind ~= "fields" then
      message.shape = {kind = "fields", fields = {{name = "", shape = message.shape}}}
    end
    prepare.fields(message.shape, message.key, message.class)
  end
  proto.fields = all

  function proto.dissector(buffer, packet, root)
    local state = {buffer = buffer, length = buffer:len(), depth = -1}
    local fine, problem = pcall(show.inner, {}, state, 0, root)
    if fine and state.length > 0 and problem < state.length then fine, problem = false, {short = true} end
    packet.cols.protocol = string.upper(agent.name)
    local title = state.type or state.outermost or "?"
    packet.cols.info = title
    root:add(type_field, title):set_generated()
    if not fine then
      if type(problem) ~= "table" then error(problem) end
      root:add_proto_expert_info(cut_short)
    end
    return state.length
  end

  DissectorTable.get("wpan.panid"):add(agent.pan, proto)
end
