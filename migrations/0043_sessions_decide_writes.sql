-- Undoes what a session wrote that has ended meanwhile.
create function session_still_holds(p_holds boolean) returns boolean language plpgsql as $$
begin
  if p_holds is not true then
    raise exception 'the session has ended' using errcode = 'SE001';
  end if;
  return true;
end
$$;
