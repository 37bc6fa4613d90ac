-- Verified is an agent that completed a signed run, private or not. Until now any counted run made it so, failed ones too.
update agents a set verified_state = case a.verified_state when 'verified' then 'unverified' else 'verified' end
where a.verified_state <> 'certified' and (a.verified_state = 'verified') <> exists (
  select from runs r where r.agent_id = a.id and r.evidence_signed and r.status = 'completed'
);
