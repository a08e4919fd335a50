import { postgresTest } from "../../support/postgres.ts";
import { claimsContract } from "../contract/claims.ts";
import { peopleContract } from "../contract/people.ts";
import { tenantsContract } from "../contract/tenants.ts";
import { openOnPostgres } from "./contract-bench.ts";

const postgres = { name: "PostgreSQL", test: postgresTest, open: openOnPostgres };
peopleContract(postgres);
tenantsContract(postgres);
claimsContract(postgres);
