package org.opendedup.sar.s3;

import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Where a store is: {@code s3://BUCKET/PREFIX?endpoint=URL&region=NAME&force-path-style=BOOLEAN}, each parameter once
 * or not at all. The parameters are those of Litestream. Has no credentials: these come from the environment.
 *
 * @param prefix what the keys of all objects begin with, with a slash at its end; empty without a prefix
 * @param endpoint of a gateway, {@code http://…} or {@code https://…}; empty for AWS
 * @param region empty for the environment's
 * @param forcesPathStyle whether requests name the bucket in the path of the URL, not in its host; by default with an
 *     endpoint
 */
record S3Address(
        String bucket, String prefix, Optional<URI> endpoint, Optional<String> region, boolean forcesPathStyle) {
    private static final Pattern BUCKET = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]");
    /** Clients and proxies join such parts; XML has no control characters. */
    private static final Pattern PREFIX = Pattern.compile("((?!\\.{1,2}/)[^/\\p{Cntrl}]+/)*");

    private static final String ENDPOINT = "endpoint";
    private static final String REGION = "region";
    private static final String PATH_STYLE = "force-path-style";
    private static final String FORM = "s3://BUCKET/PREFIX?" + ENDPOINT + "=URL&" + REGION + "=NAME&" + PATH_STYLE
            + "=BOOLEAN, without the parameters that are not needed";

    /** @throws IllegalArgumentException if it has not the form of the class's comment */
    static S3Address of(URI address) {
        Map<String, String> parameters = parameters(address);
        Optional<URI> endpoint =
                Optional.ofNullable(parameters.remove(ENDPOINT)).map(S3Address::endpoint);
        Optional<String> region = Optional.ofNullable(parameters.remove(REGION));
        String pathStyle = parameters.remove(PATH_STYLE);
        if (pathStyle != null && !pathStyle.equals("true") && !pathStyle.equals("false")) {
            throw wrong(PATH_STYLE + " is true or false", address);
        }
        if (!parameters.isEmpty()) {
            throw wrong("no parameter " + parameters.keySet().iterator().next(), address);
        }
        // Not the host: names of buckets may have underscores.
        String bucket = address.getRawAuthority() == null ? "" : address.getRawAuthority();
        if (!BUCKET.matcher(bucket).matches() || address.getRawFragment() != null) {
            throw wrong("no bucket", address);
        }
        boolean forces = pathStyle == null ? endpoint.isPresent() : Boolean.parseBoolean(pathStyle);
        String prefix = prefix(address.getPath());
        if (!PREFIX.matcher(prefix).matches()) {
            throw wrong("a prefix has no empty parts, none that are . or .., and no control characters", address);
        }
        return new S3Address(bucket, prefix, endpoint, region, forces);
    }

    private static String prefix(String path) {
        String prefix = path.replaceFirst("^/+", "").replaceFirst("/+$", "");
        return prefix.isEmpty() ? "" : prefix + "/";
    }

    private static Map<String, String> parameters(URI address) {
        Map<String, String> parameters = new HashMap<>();
        String query = address.getQuery();
        if (query != null) {
            for (String parameter : query.split("&", -1)) {
                int equals = parameter.indexOf('=');
                if (equals < 0 || equals == parameter.length() - 1) {
                    throw wrong("a parameter without a value, " + parameter, address);
                }
                if (parameters.put(parameter.substring(0, equals), parameter.substring(equals + 1)) != null) {
                    throw wrong("a parameter twice, " + parameter.substring(0, equals), address);
                }
            }
        }
        return parameters;
    }

    private static URI endpoint(String url) {
        URI endpoint = URI.create(url);
        boolean isHttp = "http".equals(endpoint.getScheme()) || "https".equals(endpoint.getScheme());
        if (!isHttp || endpoint.getHost() == null) {
            throw wrong("an endpoint is http://HOST:PORT or https://HOST:PORT", endpoint);
        } else if (endpoint.getUserInfo() != null) {
            throw new IllegalArgumentException("credentials do not belong into an endpoint; the SDK takes them from"
                    + " AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or ~/.aws/credentials");
        }
        return endpoint;
    }

    private static IllegalArgumentException wrong(String reason, URI address) {
        return new IllegalArgumentException(reason + ": " + address + "; the form is " + FORM);
    }

    /** Returns the address without parameters. */
    @Override
    public String toString() {
        return "s3://" + bucket + "/" + prefix;
    }
}
