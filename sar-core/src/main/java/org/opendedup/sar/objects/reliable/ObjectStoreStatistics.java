package org.opendedup.sar.objects.reliable;

import org.opendedup.sar.common.Figure;
import org.opendedup.sar.objects.StorePrices;

/** What was asked of an object store since it was opened. */
public record ObjectStoreStatistics(
        @Figure(value = "Requests to put an object whole", unit = "requests", counter = true)
        long putRequests,

        @Figure(
                value = "Requests to put an object in parts: to begin, to put a part, to complete or abandon it",
                unit = "requests",
                counter = true)
        long partRequests,

        @Figure(value = "Requests to read a range of an object", unit = "requests", counter = true)
        long readRequests,

        @Figure(value = "Requests for the length and the checksum of an object", unit = "requests", counter = true)
        long statusRequests,

        @Figure(value = "Requests for a page of the list of objects", unit = "requests", counter = true)
        long listRequests,

        @Figure(value = "Requests to delete objects", unit = "requests", counter = true)
        long deleteRequests,

        @Figure(value = "Requests to read or replace an object that changes", unit = "requests", counter = true)
        long replaceRequests,

        @Figure(value = "Requests among all these that repeated one", unit = "requests", counter = true)
        long repeatedRequests,

        @Figure(value = "Requests that the store did not answer, or could not then", unit = "requests", counter = true)
        long unansweredRequests,

        @Figure(value = "Bytes of objects sent", unit = "bytes", counter = true)
        long sentBytes,

        @Figure(value = "Bytes of objects received", unit = "bytes", counter = true)
        long receivedBytes,

        @Figure(value = "Mean time until a request to put an object or a part was answered", unit = "milliseconds")
        double putMillis,

        @Figure(value = "Mean time until a request to read a range was answered", unit = "milliseconds")
        double readMillis,

        @Figure(
                value = "Breaker: closed lets requests through, open refuses them because the store does not answer, "
                        + "trial waits for the answer to one",
                unit = "name")
        String breaker,

        @Figure(value = "Time since when the breaker is not closed; 0 if it is", unit = "seconds")
        long breakerSeconds,

        @Figure(value = "Times that the breaker opened", unit = "times", counter = true)
        long breakerOpenings) {
    private static final double THOUSAND = 1e3;
    private static final double GB = 1e9;

    /** Returns what the requests and what was read cost. */
    public double cost(StorePrices prices) {
        long puts = putRequests + partRequests + listRequests + replaceRequests;
        return puts / THOUSAND * prices.thousandPuts()
                + (readRequests + statusRequests) / THOUSAND * prices.thousandReads()
                + receivedBytes / GB * prices.egressGb();
    }
}
