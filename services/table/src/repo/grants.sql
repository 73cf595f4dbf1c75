GRANT SELECT, INSERT, UPDATE, DELETE ON followed, hand_tables, hand_seats TO sabacc_table
