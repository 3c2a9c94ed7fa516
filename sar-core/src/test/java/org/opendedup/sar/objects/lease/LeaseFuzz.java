package org.opendedup.sar.objects.lease;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.time.Instant;
import java.util.UUID;
import org.opendedup.sar.fuzz.ParserSet;

/** Leases, which whoever can write to the store may have written. */
public final class LeaseFuzz {
    static final LeaseRecord LEASE = new LeaseRecord(
            LeaseRecord.State.HELD,
            3,
            new UUID(1, 2),
            "host1",
            4711,
            Instant.parse("2026-11-30T04:00:00Z"),
            Instant.parse("2026-11-30T04:00:06.5Z"),
            2,
            "log 3 00000000000000ab 17 4711");
    private static final ParserSet PARSERS = new ParserSet()
            .add(
                    "lease",
                    LeaseFuzz::lease,
                    LEASE.encode(),
                    LEASE.in(LeaseRecord.State.RELEASED)
                            .noting(LeaseRecord.NO_NOTE)
                            .encode());

    private LeaseFuzz() {}

    public static ParserSet parsers() {
        return PARSERS;
    }

    public static void fuzzerTestOneInput(byte[] input) {
        PARSERS.parse(input);
    }

    private static void lease(byte[] bytes) throws IOException {
        LeaseRecord lease = LeaseRecord.decode(bytes, "a lease");
        if (!LeaseRecord.decode(lease.encode(), "a lease").equals(lease)) {
            throw new AssertionError(lease + " becomes another one");
        }
        for (byte each : (lease.ownerText() + lease.note() + lease.stateText()).getBytes(US_ASCII)) {
            if (each < ' ' || each > '~') {
                throw new AssertionError("a terminal gets " + lease);
            }
        }
    }
}
