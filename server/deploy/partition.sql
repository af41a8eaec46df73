-- Splits the traces of a commons by community over 16 tables, each with vector indexes of its own. Once, while no
-- server and no worker runs:  psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -f partition.sql
-- It takes as long as building the vector indexes, and until its end as much space again. It is one transaction.
BEGIN;
SET LOCAL row_security = off;  -- an error in place of rows that are left out
SET LOCAL maintenance_work_mem = '1GB';  -- a vector index that has no room in it takes many times as long
SET LOCAL max_parallel_maintenance_workers = 0;  -- they would take all of it at once, from a container's shared memory
SELECT pg_advisory_xact_lock(7203115001);  -- of the migrations
ALTER TABLE trace NO FORCE ROW LEVEL SECURITY;
ALTER TABLE trace RENAME TO trace_whole;
CREATE TABLE trace (LIKE trace_whole INCLUDING ALL EXCLUDING INDEXES) PARTITION BY HASH (community);
ALTER TABLE trace ADD FOREIGN KEY (community) REFERENCES community;
DO $$ BEGIN
  FOR part IN 0..15 LOOP
    EXECUTE format('CREATE TABLE trace_%s PARTITION OF trace FOR VALUES WITH (MODULUS 16, REMAINDER %s)', part, part);
    EXECUTE format('ALTER TABLE trace_%s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', part);
    EXECUTE format('CREATE POLICY tenant ON trace_%s '
      'USING (community = current_setting(''repertoire.community'', true))', part);
  END LOOP;
END $$;
INSERT INTO trace SELECT * FROM trace_whole;
DO $$ DECLARE made record; BEGIN
  FOR made IN SELECT pg_get_constraintdef(oid) AS definition
      FROM pg_constraint WHERE conrelid = 'trace_whole'::regclass AND contype IN ('p', 'u') LOOP
    EXECUTE 'ALTER TABLE trace ADD ' || made.definition;
  END LOOP;
  FOR made IN SELECT pg_get_indexdef(indexrelid) AS definition FROM pg_index i WHERE indrelid = 'trace_whole'::regclass
      AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conindid = i.indexrelid AND c.contype IN ('p', 'u')) LOOP
    EXECUTE regexp_replace(made.definition, '^CREATE (UNIQUE )?INDEX \S+ ON public\.trace_whole ', 'CREATE \1INDEX ON trace ');
  END LOOP;
END $$;
-- What refers to the table, or is called by it, has its name in the catalogue: it is made again for the new one.
DO $$ DECLARE made record; BEGIN
  FOR made IN SELECT conrelid::regclass AS holder, conname, pg_get_constraintdef(oid) AS definition
      FROM pg_constraint WHERE confrelid = 'trace_whole'::regclass AND contype = 'f' LOOP
    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', made.holder, made.conname);
    EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I %s', made.holder, made.conname,
      replace(made.definition, 'REFERENCES trace_whole', 'REFERENCES trace'));
  END LOOP;
  FOR made IN SELECT tgname, pg_get_triggerdef(oid) AS definition
      FROM pg_trigger WHERE tgrelid = 'trace_whole'::regclass AND NOT tgisinternal LOOP
    EXECUTE replace(made.definition, ' ON public.trace_whole ', ' ON public.trace ');
  END LOOP;
END $$;
DROP TABLE trace_whole;
ALTER TABLE trace ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON trace USING (community = current_setting('repertoire.community', true));
COMMIT;
ANALYZE trace;
