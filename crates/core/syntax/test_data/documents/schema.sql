-- Schema of the ledger.
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;

-- Who may post.
-- One row a person.
CREATE TABLE IF NOT EXISTS ledger.accounts (
    id         bigserial PRIMARY KEY,
    name       text NOT NULL CHECK (name <> ';'),
    owner      text NOT NULL DEFAULT 'it''s nobody',
    opened_at  timestamptz NOT NULL DEFAULT now(),
    closed_at  timestamptz,
    balance    numeric(20, 4) NOT NULL DEFAULT 0,
    currency   char(3) NOT NULL,
    notes      jsonb NOT NULL DEFAULT '{}'::jsonb,
    UNIQUE (name, owner)
);

CREATE INDEX accounts_owner ON ledger.accounts (owner);

CREATE OR REPLACE VIEW ledger.open_accounts AS
SELECT id, name, balance FROM ledger.accounts WHERE closed_at IS NULL;

/* Moves an amount; fails if the source has too little. */
CREATE OR REPLACE FUNCTION ledger.transfer(source bigint, target bigint, amount numeric)
RETURNS void AS $body$
DECLARE
    available numeric;
BEGIN
    SELECT balance INTO available FROM ledger.accounts WHERE id = source FOR UPDATE;
    IF available < amount THEN
        RAISE EXCEPTION 'account % has only %', source, available;
    END IF;
    UPDATE ledger.accounts SET balance = balance - amount WHERE id = source;
    UPDATE ledger.accounts SET balance = balance + amount WHERE id = target;
END;
$body$ LANGUAGE plpgsql;

DELIMITER //
CREATE TRIGGER audit AFTER UPDATE ON accounts FOR EACH ROW
BEGIN
    IF NEW.balance <> OLD.balance THEN
        INSERT INTO audit_log VALUES (NEW.id, OLD.balance, NEW.balance);
    END IF;
END //
DELIMITER ;

CREATE PROCEDURE close_account(account bigint)
BEGIN
    UPDATE accounts SET closed_at = now() WHERE id = account;
    DELETE FROM sessions WHERE owner = account;
END;

INSERT INTO ledger.accounts (name, owner, currency) VALUES ('cash', 'ann', 'EUR');
INSERT INTO ledger.accounts (name, owner, currency) VALUES ('bank', 'bob', 'USD');
