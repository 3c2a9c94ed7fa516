package org.opendedup.sar.s3;

import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.time.DateTimeException;
import java.util.Set;
import javax.xml.stream.XMLStreamException;
import org.opendedup.sar.common.Causes;
import org.opendedup.sar.io.UnavailableException;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** What failures of the SDK mean to the users of a store. */
final class S3Failures {
    /** A condition of a request does not hold: the name is taken, or the version is another. */
    static final class ConditionException extends IOException {
        private static final long serialVersionUID = 1;

        ConditionException(String message) {
            super(message);
        }
    }

    /**
     * Answers 400 that another try may not have. The sender has compared its bytes, so a digest that is wrong at the
     * receiver was changed on the way.
     */
    private static final Set<String> PASSING = Set.of(
            "RequestTimeout", "BadDigest", "InvalidDigest", "XAmzContentChecksumMismatch", "XAmzContentSHA256Mismatch");

    /** The clock of this machine is wrong. The SDK signs the next request for the time that such an answer has. */
    private static final Set<String> SKEWED = Set.of("RequestTimeTooSkewed", "RequestExpired", "RequestInTheFuture");

    private static final String ARCHIVED = "a rule of the bucket has moved the object into an archive (S3 Glacier);"
            + " restore it there, and end the rule for this prefix: ";

    /** Another request for the same name is on its way, whose end is not known. */
    private static final Set<String> CONFLICTS = Set.of("ConditionalRequestConflict", "OperationAborted");

    private static final Set<String> PASSING_IN_LISTS = Set.of("InternalError", "SlowDown", "ServiceUnavailable");

    private S3Failures() {}

    /**
     * @param place the object and its store
     * @param failure an {@link SdkException}, or what else the SDK throws for an answer that it cannot read
     */
    static IOException of(String place, RuntimeException failure) {
        if (failure instanceof S3Exception answer) {
            return ofAnswer(place, answer);
        }
        String message = place + ": " + failure.getMessage();
        if (failure instanceof AbortedException) {
            InterruptedIOException interrupted = new InterruptedIOException(message);
            interrupted.initCause(failure);
            return interrupted;
        } else if (failure instanceof ApiCallTimeoutException
                || failure instanceof ApiCallAttemptTimeoutException
                || Causes.include(failure, IOException.class)) {
            return new UnavailableException(message, failure);
        } else if (String.valueOf(failure.getMessage()).contains("credentials")) {
            return refused(place, failure);
        } else if (Causes.include(failure, XMLStreamException.class)
                // A date or a number among the headers that was cut.
                || Causes.include(failure, DateTimeException.class)
                || Causes.include(failure, NumberFormatException.class)) {
            return new UnavailableException(place + ": the answer came incompletely", failure);
        }
        return new IOException(message, failure);
    }

    /**
     * What the store refuses says nothing about what is stored, for whatever reason: nobody may take it for damage
     * ({@link org.opendedup.sar.io.NoAnswer}).
     */
    private static IOException refused(String place, RuntimeException failure) {
        return refused(place, String.valueOf(failure.getMessage()), failure);
    }

    private static IOException refused(String place, String reason, RuntimeException failure) {
        AccessDeniedException refused = new AccessDeniedException(place, null, reason);
        refused.initCause(failure);
        return refused;
    }

    private static IOException ofAnswer(String place, S3Exception answer) {
        AwsErrorDetails details = answer.awsErrorDetails();
        String code = details == null || details.errorCode() == null ? "" : details.errorCode();
        String message = place + ": " + answer.getMessage();
        return switch (answer.statusCode()) {
            case 400 -> PASSING.contains(code) ? new UnavailableException(message, answer) : refused(place, answer);
            case 403 -> {
                if (SKEWED.contains(code)) {
                    yield new UnavailableException(message, answer);
                }
                String why = code.equals("InvalidObjectState") ? ARCHIVED : "";
                yield refused(place, why + answer.getMessage(), answer);
            }
            case 404 -> missing(place, answer, code);
            // 307: a bucket that was made today, whose name does not lead to its region yet.
            case 307, 408, 429, 500, 502, 503, 504 -> new UnavailableException(message, answer);
            case 409 -> CONFLICTS.contains(code) ? new UnavailableException(message, answer) : refused(place, answer);
            case 412 -> new ConditionException(message);
            case 416 -> new EOFException(place + " ends before the range");
            // No status that a server gives has fewer digits: the answer was cut there.
            default -> answer.statusCode() < 100 ? new UnavailableException(message, answer) : refused(place, answer);
        };
    }

    private static IOException missing(String place, S3Exception answer, String code) {
        if (code.equals("NoSuchBucket")) {
            return refused(place, "there is no such bucket", answer);
        } else if (code.isEmpty()) {
            // Of a proxy that does not reach the store, or cut.
            return new UnavailableException(place + ": an answer 404 that does not say what is missing", answer);
        }
        return new NoSuchFileException(place);
    }

    /** Returns what the code of an entry in a list of failures means. */
    static IOException ofCode(String place, String code, String message) {
        String text = place + ": " + code + ": " + message;
        if (PASSING_IN_LISTS.contains(code)) {
            return new UnavailableException(text);
        }
        return code.equals("AccessDenied") ? new AccessDeniedException(place, null, text) : new IOException(text);
    }
}
